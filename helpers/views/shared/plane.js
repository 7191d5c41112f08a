// A plane with two axes, in which vectors are drawn and dragged.

import { draw } from "./page.js";

export const SIZE = 320;
const REACH = 2.3; // units from the middle of the drawing to its edge

/**
 * From units to the drawing's coordinates and back.
 * @type {Record<"to" | "back", (x: number, y: number) => [number, number]>}
 */
export const scale = {
  to: (x, y) => [(x / REACH + 1) * (SIZE / 2), (1 - y / REACH) * (SIZE / 2)],
  back: (x, y) => [(x / (SIZE / 2) - 1) * REACH, (1 - y / (SIZE / 2)) * REACH],
};

/** A straight line between two points, each [x, y] in units. */
export function segment(from, to, attributes) {
  const [x1, y1] = scale.to(from[0], from[1]);
  const [x2, y2] = scale.to(to[0], to[1]);
  return draw("line", { x1, y1, x2, y2, ...attributes });
}

export function axes() {
  const faint = { stroke: "currentColor", "stroke-opacity": 0.25 };
  return [segment([-REACH, 0], [REACH, 0], faint), segment([0, -REACH], [0, REACH], faint)];
}
