// What every view stands on: its style and colours, the place where it is drawn, its elements.
// Text reaches the page as text only, so that no token or prompt can become markup.

import STYLE from "../views.css?text";

// Fills and lines, the same on light and dark pages.
export const COLOURS = {
  queries: "#0072B2",
  keys: "#D55E00",
  values: "#009E73",
  weights: "#CC79A7",
};

/**
 * So many percent of a colour over what lies behind.
 * @param {string} colour
 * @param {number} percent
 */
export const mixed = (colour, percent) =>
  `color-mix(in srgb, ${colour} ${Math.round(percent)}%, transparent)`;

/**
 * Make the place where a view draws itself, above the table of its numbers.
 * @param {HTMLElement} view
 */
export function mount(view) {
  const live = h("div", { class: "live" });
  view.prepend(h("style", {}, STYLE));
  view.querySelector(".title")?.after(live);
  for (const table of view.querySelectorAll("details")) table.open = false;
  // The page's own text colour tells whether the page is dark.
  const follow = () => {
    const [red, green, blue] = getComputedStyle(view).color.match(/[\d.]+/g) ?? [];
    const light = (Number(red) * 299 + Number(green) * 587 + Number(blue) * 114) / 1000;
    view.classList.toggle("dark", light > 140);
  };
  follow();
  const watch = new MutationObserver(follow);
  for (const root of [document.documentElement, document.body])
    watch.observe(root, {
      attributes: true,
      attributeFilter: ["class", "data-theme", "data-jp-theme-light", "theme"],
    });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
  return live;
}

/**
 * What an element holds: elements and texts, in lists or not; what is null is left out.
 * @typedef {Node | string | null | undefined} Child
 * @typedef {Child | Child[]} Children
 * @typedef {{ [name: string]: any }} Attributes
 */

/**
 * An element: attributes, `on…` listeners, then children; strings become text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Children[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * The same for the elements of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Children[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} Filled
 * @param {Filled} element
 * @param {Attributes} attributes
 * @param {Children[]} children
 */
function fill(element, attributes, children) {
  // Else a browser that comes back to the page restores controls, and not what they show.
  if (element.matches("input, select, textarea")) element.setAttribute("autocomplete", "off");
  // Else JupyterLab takes arrow keys, Enter and Space for its own, whatever has the focus.
  if ("data-control" in attributes || "tabindex" in attributes)
    element.setAttribute("data-lm-suppress-shortcuts", "");
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  for (const child of children.flat())
    if (child !== null && child !== undefined) element.append(child);
  return element;
}

/**
 * A table. A text becomes a head, among the `columns` and first in a row, or a cell; what is a
 * cell already is taken as it is, and null is an empty cell above a column without a name.
 * @param {string | null} caption
 * @param {Child[] | null} columns
 * @param {Child[][]} rows
 * @param {Attributes} attributes where `foot` is one more row, below all others
 */
export function table(caption, columns, rows, { foot, ...attributes } = {}) {
  const isCell = (child) => child instanceof HTMLTableCellElement;
  const head = (scope, child) => (isCell(child) ? child : h("th", { scope }, child));
  const cell = (child, place) => {
    if (place === 0) return head("row", child);
    return isCell(child) ? child : h("td", {}, child);
  };
  const row = (cells) => h("tr", {}, cells.map(cell));
  const above = (columns ?? []).map((one) => (one === null ? h("td") : head("col", one)));
  return h(
    "table",
    attributes,
    caption === null ? null : h("caption", {}, caption),
    columns ? h("thead", {}, h("tr", {}, above)) : null,
    h("tbody", {}, rows.map(row)),
    foot ? h("tfoot", {}, row(foot)) : null,
  );
}

let drawn = 0;

/** A name for an element that no other view on the page uses. */
export function freshId(name) {
  drawn += 1;
  return `aos-${name}-${drawn}-${Math.random().toString(36).slice(2, 8)}`;
}

/**
 * A frame that scrolls sideways where its content is too wide; then its edge fades.
 * @param {string} label
 * @param {Children[]} children
 */
export function scroll(label, ...children) {
  const more = () =>
    frame.classList.toggle("more", frame.scrollLeft + frame.clientWidth < frame.scrollWidth - 2);
  const frame = h(
    "div",
    { class: "scroll", tabindex: 0, role: "group", "aria-label": label, onscroll: more },
    ...children,
  );
  const watch = new ResizeObserver(more);
  for (const element of [frame, ...frame.children]) watch.observe(element);
  return frame;
}
