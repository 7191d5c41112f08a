// A list of which one thing is chosen: a row of tokens, or a ranking.

import { walked } from "./arrow_keys.js";
import { freshId, h } from "./page.js";

/** @import { Children } from "./page.js" */

/**
 * A listbox, walked with the arrow keys. `keep(index)` hears what was clicked or walked to, and
 * null when a click or Escape lets it go; `point(index)` what the mouse is on. Returns the element,
 * `fill(contents, same)` with what each option holds behind the first ones, which stay as they are;
 * `mark(index)`; and `option(index)`, an element.
 * @param {{
 *   name: string, label: string, class?: string, across?: boolean,
 *   keep: (index: number | null) => void, point?: (index: number | null) => void,
 * }} options
 */
export function listBox({ name, label, class: kind, across = false, keep, point = () => {} }) {
  /** @type {HTMLElement[]} */
  let options = [];
  /** @type {number | null} */
  let chosen = null;
  const element = h("div", {
    class: `list ${kind ?? ""}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": label,
    "aria-orientation": across ? "horizontal" : "vertical",
    "data-control": name,
    onpointerleave: (event) => {
      if (event.pointerType === "mouse") point(null);
    },
    onkeydown: (event) => {
      const to = walked(event, chosen, options.length - 1);
      if (to !== undefined) keep(to);
    },
  });
  const option = (content, index) =>
    h(
      "div",
      {
        role: "option",
        id: freshId("option"),
        "aria-selected": "false",
        onpointerenter: (event) => {
          if (event.pointerType === "mouse") point(index);
        },
        onclick: () => {
          point(null);
          keep(chosen === index ? null : index);
        },
      },
      content,
    );
  return {
    element,
    /** @param {Children[]} contents */
    fill(contents, same = 0) {
      for (const one of options.splice(same)) one.remove();
      const more = contents.map((one, i) => option(one, same + i));
      element.append(...more);
      options.push(...more);
      chosen = null;
    },
    /** @param {number | null} index */
    mark(index) {
      chosen = index;
      options.forEach((one, i) => one.setAttribute("aria-selected", String(i === index)));
      if (index === null) element.removeAttribute("aria-activedescendant");
      else element.setAttribute("aria-activedescendant", options[index].id);
    },
    option: (index) => options[index],
  };
}
