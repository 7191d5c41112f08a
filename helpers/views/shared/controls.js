// Controls: each has a label, works by keyboard and shows its value as text.
// `name` tells a view's controls apart; the browser tests move each of them.

import { draw, h } from "./page.js";
import { fixed } from "./words.js";

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
    class: "number-field",
    oninput: () => {
      if (input.value !== "" && Number.isFinite(Number(input.value))) change(Number(input.value));
    },
  });
  return input;
}

/**
 * A button; what else is given becomes its attributes.
 * @param {{ name: string, label: string, press: () => void, [attribute: string]: any }} options
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
    class: "handle",
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
