// The next token with all heads, and beside it with some of them switched off.

import { button } from "./controls.js";
import { exactParts, headName, quotedToken } from "./head_words.js";
import { COLOURS, h, mixed, scroll, table } from "./page.js";
import { fixed } from "./words.js";

/** @import { Next } from "./head_readings.js" */

/**
 * Buttons that switch heads off, and a table of the next tokens before and after. `change(off)`
 * hears which heads are to be off, the last one behind the others.
 * @param {{ change: (off: string[]) => void }} options
 */
export function nextTokens({ change }) {
  let name = "";
  /** @type {string[]} */
  let off = [];
  /** @type {Next | null} */
  let before = null;
  const toggle = () => {
    const others = off.filter((one) => one !== name);
    change(off.includes(name) ? others : [...off, name]);
  };
  const one = button({ name: "switch", label: "", press: toggle, "aria-pressed": "false" });
  const all = button({
    name: "all on",
    label: "All heads on",
    press: () => {
      one.focus(); // this button goes
      change([]);
    },
  });
  const switches = h("div", { class: "controls" }, one);
  const numbers = h("div");
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "lost" });
  const mark = () => {
    one.textContent = `Switch head ${name} off`;
    one.setAttribute("aria-pressed", String(off.includes(name)));
    if (off.length > 0) switches.append(all);
    else all.remove();
  };
  return {
    elements: [switches, numbers, said],
    /** Another head to switch. */
    choose(place) {
      name = headName(place);
      mark();
    },
    /**
     * @param {Next | null} next with all heads; null where the model predicts none
     * @param {string[]} newOff
     * @param {Next | null} after without those; null where it isn't known
     */
    show(next, newOff, after) {
      [before, off] = [next, newOff];
      numbers.replaceChildren(...(before ? [nextTable(before, off, after)] : []));
      said.textContent = before
        ? nextSentence(before, off, after)
        : "This model reads in both directions, and predicts no next token.";
      if (before) mark();
      else switches.replaceChildren();
    },
  };
}

/** @param {Next} before */
function nextTable(before, off, after) {
  const head = (text) => h("th", { scope: "col", colspan: 2, class: "middle" }, text);
  const columns = [null, head("all heads on"), ...(after ? [head(`off: ${off.join(", ")}`)] : [])];
  const row = (_, i) => [
    String(i + 1),
    ...cells("before", before, i),
    ...(after ? cells("after", after, i) : []),
  ];
  const found = table("Next token", columns, before.map(row));
  return scroll("The most probable next tokens", found);
}

function cells(side, next, i) {
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

function nextSentence(before, off, after) {
  const [token, share] = before[0];
  if (!after) return `With all heads, ${quotedToken(token)} is the most probable, ${fixed(share)}.`;
  const found = after.find(([one]) => one === token);
  const now = found ? fixed(found[1]) : `less than ${fixed(after[after.length - 1][1])}`;
  return (
    `Without ${off.join(", ")}, ${quotedToken(token)} has ${now} in place of ` +
    `${fixed(share)}; the map still shows all heads at work.`
  );
}
