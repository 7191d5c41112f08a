// The next token with everything on, and beside it with some parts of the model switched off.

import { button } from "./controls.js";
import { exactParts, headName, offInWords, quotedToken, SINK } from "./head_words.js";
import { COLOURS, h, mixed, scroll, table } from "./page.js";
import { fixed } from "./words.js";

/** @import { Next } from "./head_readings.js" */

/**
 * Buttons that switch parts off, and a table of the next tokens before and after. `change(off)`
 * hears which are to be off, the last one behind the others. Heads can always be switched; with
 * `parts`, also the MLP of the chosen head's layer, and the sight of the first token.
 * @param {{ change: (off: string[]) => void }} options
 */
export function nextTokens({ change }) {
  let [layer, name] = [0, ""];
  /** @type {string[]} */
  let off = [];
  let parts = false;
  const toggle = (part) => {
    const others = off.filter((one) => one !== part);
    change(off.includes(part) ? others : [...off, part]);
  };
  /** A button for a part of the model that depends on the chosen head; it says what it will do. */
  const part = (control, which, label) => {
    const element = button({ name: control, label: "", press: () => toggle(which()) });
    const mark = () => {
      element.textContent = label(off.includes(which()));
    };
    return { element, mark };
  };
  const switched = (what) => (isOff) => `Switch ${what()} ${isOff ? "on again" : "off"}`;
  const head = part(
    "switch",
    () => name,
    switched(() => `head ${name}`),
  );
  const others = [
    part(
      "switch MLP",
      () => `mlp.${layer}`,
      switched(() => `the MLP of layer ${layer}`),
    ),
    part(
      "switch sink",
      () => SINK,
      (isOff) => (isOff ? "Show the first token again" : "Hide the first token"),
    ),
  ];
  const all = button({
    name: "all on",
    label: "",
    press: () => {
      head.element.focus(); // this button goes
      change([]);
    },
  });
  const state = h("p", { class: "note", "data-value": "off" });
  const switches = h("div", { class: "controls" });
  const numbers = h("div");
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "lost" });
  const mark = () => {
    const shown = parts ? [head, ...others] : [head];
    for (const one of shown) one.mark();
    state.textContent =
      off.length === 0 ? `Now: ${allOn(parts)}.` : `Off now: ${offInWords(off, "head ")}.`;
    all.textContent = `Switch ${parts ? "everything" : "all heads"} on`;
    const wanted = [...shown.map(({ element }) => element), ...(off.length > 0 ? [all] : [])];
    const isThere = wanted.length === switches.children.length && wanted.every(isIn);
    if (!isThere) keepFocus(switches, wanted);
  };
  const isIn = (one) => one.parentNode === switches;
  return {
    elements: [state, switches, numbers, said],
    /** Another head to switch. */
    choose(place) {
      [layer, name] = [place[0], headName(place)];
      if (switches.children.length > 0) mark();
    },
    /**
     * @param {{
     *   before: Next | null, off: string[], after: Next | null, parts: boolean,
     *   predicts: boolean, map: string[],
     * }} shown `before` with everything on, `after` without what is `off`, each null where it isn't
     *   known (yet); `map` is what was off while the weights were read
     */
    show({ before, off: newOff, after, parts: withParts, predicts, map }) {
      [off, parts] = [newOff, withParts];
      numbers.replaceChildren(...(before || after ? [nextTable(before, off, after, parts)] : []));
      said.textContent = predicts
        ? nextSentence(before, off, after, map)
        : "This model reads in both directions, and predicts no next token.";
      if (predicts) mark();
      else for (const one of [state, switches]) one.replaceChildren();
    },
  };
}

/** Put elements into a place; one that has the focus keeps it. */
function keepFocus(place, elements) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  place.replaceChildren(...elements);
  if (elements.includes(focused)) focused?.focus();
}

const allOn = (parts) => (parts ? "everything on" : "all heads on");

/**
 * @param {Next | null} before
 * @param {Next | null} after
 */
function nextTable(before, off, after, parts) {
  const head = (text) => h("th", { scope: "col", colspan: 2, class: "middle" }, text);
  const sides = [
    { side: "before", next: before, title: allOn(parts) },
    { side: "after", next: after, title: `off: ${offInWords(off)}` },
  ].filter(({ side, next }) => next !== null || (side === "before" && after !== null));
  const columns = [null, ...sides.map(({ title }) => head(title))];
  const row = (_, i) => [String(i + 1), ...sides.flatMap(({ side, next }) => cells(side, next, i))];
  const found = table("Next token", columns, (before ?? after ?? []).map(row));
  return scroll("The most probable next tokens", found);
}

function cells(side, next, i) {
  if (next === null) return [h("td", { class: "sentence" }, "…"), h("td", {}, "…")];
  const [token, share] = next[i];
  const filled = `${Math.round(100 * share)}%`;
  const colour = mixed(COLOURS.weights, 45);
  return [
    h("td", { class: "sentence", "data-value": `${side} token ${i}` }, exactParts(token)),
    h(
      "td",
      {
        class: "next-share",
        "data-value": `${side} ${i}`,
        style: `background: linear-gradient(to right, ${colour} ${filled}, transparent ${filled})`,
      },
      fixed(share),
    ),
  ];
}

/**
 * @param {Next | null} before
 * @param {string[]} off
 * @param {Next | null} after
 */
function nextSentence(before, off, after, map) {
  const [token, share] = (before ?? after ?? [["", 0]])[0];
  const most = `${quotedToken(token)} is the most probable, ${fixed(share)}`;
  const shown =
    map.length > 0 ? `was read without ${offInWords(map)}` : "still shows all heads at work";
  if (!after && off.length > 0) return `What comes without ${offInWords(off)} isn't known yet.`;
  if (!after) return `With all heads, ${most}.`;
  if (!before) return `Without ${offInWords(off)}, ${most}; the map ${shown}.`;
  const found = after.find(([one]) => one === token);
  const now = found ? fixed(found[1]) : `less than ${fixed(after[after.length - 1][1])}`;
  return (
    `Without ${offInWords(off)}, ${quotedToken(token)} has ${now} in place of ` +
    `${fixed(share)}; the map ${shown}.`
  );
}
