// The heads of a model ranked by a score: the first of them as a list, and those with too little.

import { menu, slider } from "./controls.js";
import { SCORES } from "./head_readings.js";
import { exactParts, headName, placeOf, tokenAt } from "./head_words.js";
import { listBox } from "./list_box.js";
import { h } from "./page.js";
import { fixed } from "./words.js";

/** @import { Reading } from "./head_readings.js" */

/** @typedef {{ query: number | null, key: number | null }} Pair */
/** @typedef {[number, number]} Place */

const RANKED = 8; // heads in the list
const STEPS = 20; // of the slider that leaves heads out
const PAIR = "weight from the query to the key";

/**
 * A menu of scores, a slider for the least of them, and a list. `change()` hears that one was
 * moved, `pick(place)` which head was chosen from the list.
 * @param {{ change: () => void, pick: (place: Place) => void }} options
 */
export function headRanking({ change, pick }) {
  /** @type {Reading} */
  let reading;
  let label = PAIR;
  let least = 0;
  /** @type {Place[]} */
  let listed = [];
  /** @type {{ [label: string]: number[] }} */
  let counted = {}; // what was computed of this reading: a number for each head
  const list = listBox({
    name: "ranking",
    label: "the first heads of the ranking",
    class: "ranking",
    keep: (index) => {
      if (index !== null) pick(listed[index]);
    },
  });
  const scores = h("span");
  const limits = h("span");
  const count = h("p", { class: "note", "data-value": "count" });
  const without = h("p", { class: "note small", "data-value": "without scores" });
  const unit = h("p", { class: "note small", "data-value": "unit" });
  const ties = h("p", { class: "note small", "data-value": "ties" });
  const place = h("div", {}, list.element); // there is no list without heads
  const score = () => SCORES.find((one) => one.label === label);
  const select = (chosen, from = 0) => {
    [label, least] = [chosen, from];
    limits.replaceChildren(limitSlider());
  };

  const fitting = () => SCORES.filter((one) => one.fits(reading));
  const scoreMenu = () =>
    menu({
      name: "score",
      label: "Rank the heads by",
      options: [PAIR, ...fitting().map((one) => one.label)],
      value: label,
      change: (chosen) => {
        select(chosen);
        change();
      },
    });
  const limitSlider = () => {
    const { low, top } = scale();
    return slider({
      name: "least",
      label: low ? "Only heads with at most" : "Only heads with at least",
      min: 0,
      max: STEPS,
      value: least,
      text: (step) => fixed(limitAt(step, low, top)),
      change: (step) => {
        least = step;
        change();
      },
    });
  };
  const scale = () => {
    const found = score();
    if (!found) return { low: false, top: 1 };
    const top = found.most(reading) ?? Math.max(1e-9, ...numbersOf(found));
    return { low: found.low ?? false, top };
  };
  const numbersOf = (found) =>
    (counted[found.label] ??= places(reading).map((place) => found.of(reading, ...place)));

  /** Which weight ranks the heads; where one token isn't chosen, the largest of several. */
  const byWeight = ({ query, key }) => {
    const name = (i) => tokenAt(reading.tokens, i);
    if (key === null) return ` by the largest weight of ${name(query)} (no key is chosen)`;
    if (query === null) return ` by the largest weight on ${name(key)} (no query is chosen)`;
    return ` by the weight from ${name(query)} to ${name(key)}`;
  };

  return {
    elements: [h("div", { class: "controls" }, scores, limits), without, unit, count, place, ties],
    /**
     * Another reading; the score stays where it has one. Where it `keeps` the text, which was read
     * with other parts off, so does the least.
     */
    read(newReading, keeps = false) {
      [reading, counted] = [newReading, {}];
      const isThere = label === PAIR || fitting().some((one) => one.label === label);
      if (!isThere) label = PAIR;
      scores.replaceChildren(scoreMenu());
      select(label, keeps && isThere ? least : 0);
      without.textContent = SCORES.filter((one) => !one.fits(reading))
        .map((one) => `“${one.label}” isn't offered here: it needs ${one.needs}.`)
        .join(" ");
    },
    /** Back to the weight between two tokens. */
    byPair() {
      if (label === PAIR) return;
      select(PAIR);
      /** @type {HTMLSelectElement} */ (scores.querySelector("select")).value = PAIR;
    },
    score,
    /**
     * All heads, the first ones first, with how good each is, from 0 to 1, and whether it is
     * left in.
     * @param {Pair} pair
     */
    rank(pair) {
      const { low, top } = scale();
      const found = score();
      const numbers = found ? numbersOf(found) : null;
      const every = places(reading).map((place, i) => {
        const number = numbers?.[i] ?? pairWeight(reading, pair, place);
        const share = Math.max(0, Math.min(1, number / top));
        const good = low ? 1 - share : share;
        return { place, number, good, left: good >= least / STEPS - 1e-9 };
      });
      return every.sort((one, other) => (low ? 1 : -1) * (one.number - other.number));
    },
    /**
     * @param {{ place: Place, number: number, good: number, left: boolean }[]} every
     * @param {Pair} pair
     * @param {Place} chosen
     */
    show(every, pair, chosen) {
      const { query, key } = pair;
      const isFree = !score() && query === null && key === null;
      const isAhead = !score() && reading.causal && query !== null && key !== null && key > query;
      const waits = isFree || isAhead;
      const shown = waits ? [] : every.slice(0, RANKED);
      listed = shown.map(({ place }) => place);
      if (waits) list.element.remove();
      else if (!place.contains(list.element)) place.append(list.element);
      list.fill(
        shown.map((one, i) => line(one, i, score() ? null : strongest(reading, pair, one))),
      );
      const index = listed.findIndex((one) => headName(one) === headName(chosen));
      list.mark(index < 0 ? null : index);
      const { low, top } = scale();
      const limit = fixed(limitAt(least, low, top));
      const left = every.filter((one) => one.left).length;
      unit.textContent = score()?.unit?.(reading) ?? "";
      ties.textContent = waits ? "" : tiesInWords(every, shown, !score() && key === null);
      count.textContent = isAhead
        ? "No head is ranked: a token sees only itself and those before it."
        : isFree
          ? "Choose a query or a key, and the heads with the largest weights stand here."
          : least === 0
            ? `The first ${shown.length} of ${every.length} heads${score() ? "" : byWeight(pair)}:`
            : `${left} of ${every.length} heads have at ${low ? "most" : "least"} ${limit}:`;
    },
  };
}

const limitAt = (step, low, top) => (top * (low ? STEPS - step : step)) / STEPS;

/**
 * All heads of all layers.
 * @returns {Place[]}
 */
function places({ layers, heads }) {
  return Array.from({ length: layers * heads }, (_, i) => [Math.floor(i / heads), i % heads]);
}

/** A head's weights, as bytes, from the query to the key; where one isn't chosen, those of all. */
function pairBytes({ tokens, bytes, row }, { query, key }, [layer, head]) {
  if (query === null && key === null) return [0];
  if (query === null) return tokens.map((_, i) => bytes(layer, head, i, key));
  return key === null ? row(layer, head, query) : [bytes(layer, head, query, key)];
}

/** The weight from the query to the key; where one of them isn't chosen, the largest. */
const pairWeight = (reading, pair, place) => Math.max(...pairBytes(reading, pair, place)) / 255;

/** The token that a head's largest weight is on, or comes from, where that isn't chosen. */
function strongest(reading, pair, { place }) {
  if (pair.query !== null && pair.key !== null) return null;
  const weights = pairBytes(reading, pair, place);
  const i = weights.indexOf(Math.max(...weights));
  return [...exactParts(reading.tokens[i]), placeOf(reading.tokens, i)];
}

/** Why numbers of the list look the same, where all do. */
function tiesInWords(every, shown, isOfQuery) {
  const texts = new Set(shown.map(({ number }) => fixed(number)));
  if (texts.size > 1 || shown.length < 2) return "";
  const [text] = texts;
  const count = every.filter(({ number }) => fixed(number) === text).length;
  const why =
    isOfQuery && text === fixed(1)
      ? "Each gives nearly all its weight to one token, which stands beside it. Choose a key, " +
        "and they are ranked by that one alone."
      : "";
  return `${count} heads have ${text}, to two decimals. ${why}`.trim();
}

const line = ({ place, number, good }, i, token) => [
  h("span", { class: "head-name" }, headName(place)),
  h(
    "span",
    { class: "head-bar", "aria-hidden": "true" },
    h("span", { style: `width: ${100 * good}%` }),
  ),
  h("span", { class: "head-number", "data-value": `rank ${i}` }, fixed(number)),
  token && h("span", { class: "head-token", "data-value": `strongest ${i}` }, token),
];
