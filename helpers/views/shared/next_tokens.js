// The next token with everything on, and beside it with some parts of the model switched off.

import { button } from "./controls.js";
import { exactParts, headName, offInWords, quotedToken, SINK } from "./head_words.js";
import { COLOURS, h, mixed, scroll, table } from "./page.js";
import { fixed } from "./words.js";

/** @import { Next } from "./head_readings.js" */

const ROUNDS_TO_NONE = 0.005; // a smaller probability would be shown as 0.00

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
  const doing = h("p", { class: "note", "aria-live": "polite", "data-value": "switching" });
  const wrong = h("p", { class: "note wrong", role: "alert", "data-value": "switch wrong" });
  const about = h("p", { class: "note small", "data-value": "about parts" });
  const switches = h("div", { class: "controls" });
  const numbers = h("div");
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "lost" });
  const mark = () => {
    const shown = parts ? [head, ...others] : [head];
    for (const one of shown) one.mark();
    state.textContent = off.length === 0 ? `Now: ${allOn(parts)}.` : `Off now: ${offInWords(off)}.`;
    all.textContent = `Switch ${parts ? "everything" : "all heads"} on`;
    const wanted = [...shown.map(({ element }) => element), ...(off.length > 0 ? [all] : [])];
    const isThere = wanted.length === switches.children.length && wanted.every(isIn);
    if (!isThere) keepFocus(switches, wanted);
  };
  const isIn = (one) => one.parentNode === switches;
  return {
    elements: [state, switches, doing, wrong, about, numbers, said],
    /** Beside the switches: that something is being computed, or what went wrong with it. */
    tell(words, error = "") {
      [doing.textContent, wrong.textContent] = [words, error];
    },
    /** Another head to switch. */
    choose(place) {
      [layer, name] = [place[0], headName(place)];
      if (switches.children.length > 0) mark();
    },
    /**
     * @param {{
     *   before: Next | null, off: string[], after: Next | null, parts: boolean,
     *   predicts: boolean, map: string[], second: number | null,
     * }} shown `before` with everything on, `after` without what is `off`, each null where it isn't
     *   known (yet); `map` is what was off while the weights were read, `second` what the second
     *   token got then, where the first was hidden
     */
    show({ before, off: newOff, after, parts: withParts, predicts, map, second }) {
      [off, parts] = [newOff, withParts];
      numbers.replaceChildren(...(before || after ? [nextTable(before, off, after, parts)] : []));
      said.textContent = predicts
        ? nextSentence(before, off, after, parts) + ofWeights(map, off, parts)
        : "This model reads in both directions, and predicts no next token.";
      about.textContent = parts
        ? [ABOUT_MLP, ...(second === null ? [] : [taken(second)])].join(" ")
        : "";
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

const ABOUT_MLP = "A layer's MLP works behind its heads, on each token by itself.";

/** What becomes of the weights on a first token that is hidden. */
const taken = (second) =>
  "The second token now sees only itself, and takes the place of the first: over all heads, the " +
  `later tokens give it ${fixed(second)} on average.`;

/** Which weights are shown, where some are switched off. */
function ofWeights(map, off, parts) {
  const isSame = map.length === off.length && map.every((one) => off.includes(one));
  if (isSame) return off.length > 0 ? " All weights shown are without it, too." : "";
  const still = map.length > 0 ? `without ${offInWords(map)}` : `with ${allOn(parts)}`;
  return ` The weights shown are still those ${still}.`;
}

/** A probability; one that rounds to nothing isn't nothing. */
const inWords = (share) => (share < ROUNDS_TO_NONE ? `less than ${ROUNDS_TO_NONE}` : fixed(share));

/**
 * @param {Next | null} before
 * @param {Next | null} after
 */
function nextTable(before, off, after, parts) {
  const head = (text) => h("th", { scope: "col", colspan: 2, class: "middle" }, text);
  const sides = [
    { side: "before", next: before, title: allOn(parts) },
    { side: "after", next: after, title: `off: ${offInWords(off)}` },
  ].filter(({ side }) => side === "before" || off.length > 0);
  const columns = [null, ...sides.map(({ title }) => head(title))];
  const row = (_, i) => [String(i + 1), ...sides.flatMap(({ side, next }) => cells(side, next, i))];
  const found = table(
    "Next token, after the last of the text",
    columns,
    (before ?? after ?? []).map(row),
  );
  return scroll("The most probable next tokens", found);
}

function cells(side, next, i) {
  if (next === null)
    return [h("td", { class: "sentence", "data-value": `${side} token ${i}` }, "…"), h("td")];
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
function nextSentence(before, off, after, parts) {
  const [token, share] = (before ?? after ?? [["", 0]])[0];
  const most = `${quotedToken(token)} is the most probable, ${fixed(share)}`;
  const without = offInWords(off);
  const state = off.length > 0 ? `without ${without}` : `with ${allOn(parts)}`;
  if (off.length > 0 ? !after : !before) return `What comes ${state} isn't known yet.`;
  if (!after) return `With ${allOn(parts)}, ${most}.`;
  if (!before) return `Without ${without}, ${most}.`;
  const found = after.find(([one]) => one === token);
  const last = inWords(after[after.length - 1][1]); // those that aren't listed have less
  const now = found ? inWords(found[1]) : `less than ${last.replace("less than ", "")}`;
  const change =
    now === fixed(share) ? `still has ${now}` : `has ${now} in place of ${fixed(share)}`;
  return `Without ${without}, ${quotedToken(token)} ${change}.`;
}
