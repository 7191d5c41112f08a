// A head is chosen by what it has been found to do, or by its number.

import { field, menu } from "./controls.js";
import { SCORES } from "./head_readings.js";
import { h } from "./page.js";
import { fixed } from "./words.js";
/** @import { Reading } from "./head_readings.js" */

/** @typedef {[number, number]} Place */

const ANY = "…";
const FOUND = "Found on this book's texts; on another, it may do otherwise.";

/**
 * How far a head does its job on the text in sight, where a score says that.
 * @param {string | undefined} job
 * @param {Reading} reading
 * @param {Place} place
 */
function onThisText(job, reading, place) {
  const score = SCORES.find(({ label }) => label.replace(/ \(.*/, "") === job);
  if (!score) return "";
  if (!score.fits(reading)) return ` This text can't show it: it needs ${score.needs}.`;
  return ` On this one: with ${fixed(score.of(reading, ...place))} of its weight on average.`;
}

/**
 * A menu of jobs and two fields. Returns the element and `show(reading, place)`, another head that
 * was chosen elsewhere.
 * @param {{ jobs: [string, Place][], pick: (place: Place) => void }} options
 */
export function headFinder({ jobs, pick }) {
  let sizes = [1, 1];
  /** @type {Place} */
  let chosen = [0, 0];
  let missing = ""; // the number of a head or layer that there isn't, in words
  const names = jobs.map(([job]) => job);
  const list = menu({
    name: "job",
    label: "Show the head that",
    options: [ANY, ...names],
    value: ANY,
    change: (name) => {
      if (name !== ANY) pick(jobs[names.indexOf(name)][1]);
    },
  });
  const number = (side, name) =>
    field({
      name,
      label: name,
      value: 0,
      step: 1,
      change: (value) => {
        const place = /** @type {Place} */ ([...chosen]);
        const last = sizes[side] - 1;
        place[side] = Math.max(0, Math.min(last, Math.floor(value)));
        const what = ["layer", "head"][side];
        if (place[side] !== value)
          missing = `There is no ${what} ${value}: they go from 0 to ${last}. `;
        pick(place);
      },
    });
  const fields = [number(0, "layer"), number(1, "head number")];
  const trust = h("span", { class: "small", "aria-live": "polite", "data-value": "trust" });
  return {
    element: h(
      "div",
      { class: "controls" },
      list,
      h(
        "span",
        { class: "head-place" },
        h("label", {}, "layer ", fields[0]),
        h("label", {}, "head ", fields[1]),
      ),
      trust,
    ),
    /**
     * @param {Reading} reading
     * @param {Place} place
     */
    show(reading, place) {
      [sizes, chosen] = [[reading.layers, reading.heads], place];
      const job = jobs.findIndex(([, [layer, head]]) => layer === place[0] && head === place[1]);
      /** @type {HTMLSelectElement} */ (list.querySelector("select")).value = names[job] ?? ANY;
      trust.textContent = missing + FOUND + onThisText(names[job], reading, place);
      missing = "";
      fields.forEach((one, side) => {
        [one.min, one.max] = ["0", String(sizes[side] - 1)];
        if (Number(one.value) !== place[side]) one.value = String(place[side]);
      });
    },
  };
}
