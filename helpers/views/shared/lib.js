// What all views share: elements, controls, tables, colours, a little mathematics.
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

// --- the page -----------------------------------------------------------------------

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

// --- controls: each has a label, works by keyboard and shows its value as text ----------
// `name` tells a view's controls apart; the browser tests move each of them.

/**
 * A slider over numbers, or over a list of choices; `value` is where it starts.
 * @param {{
 *   name: string, label: string, min?: number, max?: number, step?: number, value: any,
 *   choices?: any[], text?: (value: any) => string, change: (value: any) => void,
 * }} options
 */
export function slider({ name, label, min, max, step = 1, value, choices, text = String, change }) {
  const read = (place) => (choices ? choices[place] : place);
  const place = choices ? choices.indexOf(value) : value;
  const shown = h("output", {}, text(value));
  const input = h("input", {
    type: "range",
    "data-control": name,
    "aria-valuetext": text(value),
    value: place,
    min: choices ? 0 : min,
    max: choices ? choices.length - 1 : max,
    step: choices ? 1 : step,
    oninput: () => {
      const now = read(Number(input.value));
      shown.textContent = text(now);
      input.setAttribute("aria-valuetext", text(now));
      change(now);
    },
  });
  input.value = place; // once its ends are known
  return h("label", {}, `${label} `, input, shown);
}

/**
 * A menu.
 * @param {{
 *   name: string, label: string, options: string[], value: string,
 *   change: (value: string) => void,
 * }} options
 */
export function menu({ name, label, options, value, change }) {
  const input = h(
    "select",
    { "data-control": name, onchange: () => change(input.value) },
    options.map((option) => h("option", { value: option, selected: option === value }, option)),
  );
  return h("label", {}, `${label} `, input);
}

/**
 * A box to tick.
 * @param {{ name: string, label: string, value: boolean, change: (on: boolean) => void }} options
 */
export function tick({ name, label, value, change }) {
  const input = h("input", {
    type: "checkbox",
    "data-control": name,
    checked: value,
    onchange: () => change(input.checked),
  });
  return h("label", {}, input, ` ${label}`);
}

/**
 * A field for one number, for instance in a table's cell; what isn't a number waits.
 * @param {{
 *   name: string, label: string, value: string | number, step?: number,
 *   change: (value: number) => void,
 * }} options
 */
export function field({ name, label, value, step = 0.1, change }) {
  const input = h("input", {
    type: "number",
    "data-control": name,
    "aria-label": label,
    value,
    step,
    style: "width: 5.5rem",
    oninput: () => {
      if (input.value !== "" && Number.isFinite(Number(input.value))) change(Number(input.value));
    },
  });
  return input;
}

/**
 * A button.
 * @param {{ name: string, label: string, press: () => void } & Attributes} options
 */
export function button({ name, label, press, ...attributes }) {
  return h(
    "button",
    { type: "button", "data-control": name, onclick: press, ...attributes },
    label,
  );
}

/**
 * A point of a drawing that is dragged, or moved by arrow keys; `at` is [x, y] in the drawing's
 * own units, `scale` turns units into the drawing's coordinates and back, `move` hears [x, y].
 * @typedef {(x: number, y: number) => [number, number]} Mapping
 * @param {{
 *   name: string, label: string, at: [number, number], scale: { to: Mapping, back: Mapping },
 *   colour: string, step?: number, limit?: number, move: (at: [number, number]) => void,
 * }} options
 */
export function handle({ name, label, at, scale, colour, step = 0.1, limit = 2, move }) {
  let [x, y] = at;
  const describe = () => `x ${fixed(x)}, y ${fixed(y)}`;
  const point = draw("circle", {
    r: 11,
    fill: colour,
    stroke: "currentColor",
    "stroke-width": 2,
    tabindex: 0,
    role: "slider",
    "data-control": name,
    "aria-label": label,
    style: "cursor: grab; touch-action: none",
    "aria-valuenow": fixed(x),
    "aria-valuemin": -limit,
    "aria-valuemax": limit,
    onkeydown: (event) => {
      const by = {
        ArrowLeft: [-step, 0],
        ArrowRight: [step, 0],
        ArrowUp: [0, step],
        ArrowDown: [0, -step],
      }[event.key];
      if (!by) return;
      event.preventDefault();
      go(x + by[0], y + by[1]);
    },
    onpointerdown: (event) => point.setPointerCapture(event.pointerId),
    onpointermove: (event) => {
      if (!point.hasPointerCapture(event.pointerId)) return;
      const drawing = /** @type {SVGSVGElement} */ (point.ownerSVGElement);
      const matrix = drawing.getScreenCTM()?.inverse();
      const there = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
      go(...scale.back(there.x, there.y));
    },
  });
  const place = () => {
    const [cx, cy] = scale.to(x, y);
    point.setAttribute("cx", String(cx));
    point.setAttribute("cy", String(cy));
    point.setAttribute("aria-valuenow", fixed(x));
    point.setAttribute("aria-valuetext", describe());
  };
  const go = (newX, newY) => {
    const kept = (number) => Math.max(-limit, Math.min(limit, Math.round(number * 100) / 100));
    [x, y] = [kept(newX), kept(newY)];
    place();
    move([x, y]);
  };
  place();
  return point;
}

/**
 * So many percent of a colour over what lies behind.
 * @param {string} colour
 * @param {number} percent
 */
export const mixed = (colour, percent) =>
  `color-mix(in srgb, ${colour} ${Math.round(percent)}%, transparent)`;

// --- tables ---------------------------------------------------------------------------

/**
 * A number with that many decimals, and never -0.00.
 * @param {number} number
 */
export function fixed(number, decimals = 2) {
  const text = number.toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/**
 * A reader's text inside a sentence, in whatever direction; its own marks of direction go.
 * @param {string} text
 */
export const isolated = (text) =>
  `\u2068${text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "")}\u2069`;

/**
 * A token that can be seen: white space alone, or nothing, gets signs.
 * @param {string} token
 */
export function visible(token) {
  const signs = { " ": "␣", "\n": "↵", "\t": "⇥" };
  return token === ""
    ? "∅"
    : /^\s+$/.test(token)
      ? token.replace(/[ \n\t]/g, (sign) => signs[sign])
      : token;
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

// --- a little mathematics -----------------------------------------------------------------

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** @type {(one: number[], other: number[]) => number} */
export const dot = (one, other) => sum(one.map((number, i) => number * other[i]));
/** @type {(rows: number[][]) => number[][]} */
export const transpose = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));

/**
 * Rows (T, D) times columns (D, S).
 * @param {number[][]} one
 * @param {number[][]} other
 */
export function matmul(one, other) {
  const columns = transpose(other);
  return one.map((row) => columns.map((column) => dot(row, column)));
}

/**
 * Weights from scores; a score of -Infinity gets none.
 * @param {number[]} scores
 */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/**
 * Random numbers in [0, 1) from a seed (mulberry32), the same in every browser.
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
