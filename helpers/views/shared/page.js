// What every view stands on: its style and colours, the place where it is drawn, its elements.
// Text reaches the page as text only, so that no token or prompt can become markup.

const STYLE = `
.aos-view {
  --queries: #0072b2; --keys: #b34a00; --values: #00795a; --weights: #a3477d;
  --line: color-mix(in srgb, currentColor 28%, transparent);
  --faint: color-mix(in srgb, currentColor 8%, transparent);
  border: 1px solid var(--line); border-radius: 8px; padding: 0.75rem 1rem;
  margin: 0.5rem 0; font-size: 0.95rem; line-height: 1.45; max-width: 100%;
  box-sizing: border-box; overflow-wrap: anywhere;
}
.aos-view.dark { --queries: #5cb8ee; --keys: #ff9a57; --values: #3fd3a4; --weights: #eba3cb; }
.aos-view *, .aos-view *::before { box-sizing: border-box; }
.aos-view .title { font-weight: 600; margin: 0 0 0.5rem; }
.aos-view .controls {
  display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; align-items: end; margin: 0.5rem 0;
}
.aos-view .panels { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: start; }
.aos-view .panels > * { min-width: 0; max-width: 100%; }
.aos-view label, .aos-view fieldset {
  display: inline-flex; flex-wrap: wrap; gap: 0.25rem 0.5rem; align-items: center; border: 0;
  margin: 0; padding: 0; min-width: 0;
}
.aos-view legend {
  float: left; padding: 0; margin: 0; font-size: inherit; font-weight: inherit; width: auto;
  line-height: inherit;
}
.aos-view input, .aos-view select, .aos-view button, .aos-view textarea {
  font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: 5px; padding: 0.15rem 0.5rem; margin: 0; min-height: 1.75rem;
}
.aos-view input[type=range] {
  width: 10rem; max-width: 60vw; padding-inline: 0; accent-color: var(--queries);
}
.aos-view option { color: #111; background: #fff; }
.aos-view button { cursor: pointer; background: var(--faint); }
.aos-view button[aria-pressed=true] { outline: 2px solid var(--queries); }
.aos-view :focus-visible { outline: 2px solid var(--queries); outline-offset: 2px; }
.aos-view output { font-variant-numeric: tabular-nums; font-weight: 600; }
.aos-view .scroll { overflow-x: auto; max-width: 100%; }
.aos-view .scroll.more { mask-image: linear-gradient(to left, rgb(0 0 0 / 25%), black 2.5rem); }
@media (max-width: 599px) { .aos-view .live th, .aos-view .live td { padding-inline: 0.25rem; } }
.aos-view table {
  border-collapse: collapse; margin: 0.25rem 0; font-variant-numeric: tabular-nums; width: auto;
  display: table;
}
.aos-view caption {
  caption-side: top; text-align: left; font-weight: 600; color: inherit; padding: 0 0 0.2rem;
}
.aos-view th, .aos-view td {
  border: 1px solid var(--line); padding: 0.15rem 0.45rem; text-align: right; font-weight: 400;
  background: transparent; color: inherit; white-space: pre; unicode-bidi: isolate;
}
.aos-view th { font-weight: 600; }
.aos-view td.off {
  background: repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px);
}
.aos-view .queries { color: var(--queries); } .aos-view .keys { color: var(--keys); }
.aos-view .values { color: var(--values); } .aos-view .weights { color: var(--weights); }
.aos-view svg { max-width: 100%; height: auto; display: block; }
.aos-view svg text { fill: currentColor; font-size: 12px; }
.aos-view details { margin-top: 0.5rem; }
.aos-view summary { cursor: pointer; }
.aos-view .note { margin: 0.35rem 0; }
.aos-view .text { white-space: pre-wrap; font-family: ui-monospace, monospace; }
@media print { .aos-view .controls { display: none; } }
/* The book's theme lays a light panel under outputs on dark pages. */
.text_html:has(> .aos-view) {
  background: transparent !important; color: inherit !important; padding: 0 !important;
}
`;

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
