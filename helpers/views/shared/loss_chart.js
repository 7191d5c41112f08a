// Losses over the steps of a training, while it goes on, with lines to compare them with.

import { COLOURS, draw } from "./page.js";
import { fixed } from "./words.js";

const CHART = { width: 460, height: 260, left: 44, right: 12, top: 26, bottom: 36 };
const MOST_POINTS = 300; // of the line; more steps than that are averaged
const [BATCHES, HELD_OUT] = ["currentColor", COLOURS.queries];

/**
 * A chart whose vertical axis begins at 0; `levels` are [name, nats], the lowest one first, drawn
 * as dashed lines.
 * @param {{ steps: number, most: number, levels: [string, number][] }} options
 */
export function lossChart({ steps, most, levels }) {
  const { width, height, left, right, top, bottom } = CHART;
  const x = (step) => left + ((width - left - right) * step) / steps;
  const y = (loss) =>
    height - bottom - ((height - top - bottom) * Math.max(0, Math.min(loss, most))) / most;
  const rule = (x1, y1, x2, y2, more = {}) =>
    draw("line", { x1, y1, x2, y2, stroke: "currentColor", "stroke-opacity": 0.5, ...more });
  const text = (at, anchor, words) =>
    draw("text", { x: at[0], y: at[1], "text-anchor": anchor }, words);
  const line = (stroke, attributes) =>
    draw("path", { fill: "none", stroke, "stroke-linejoin": "round", ...attributes });
  const batches = line(BATCHES, { "stroke-opacity": 0.55, "data-value": "curve of batches" });
  const heldOut = line(HELD_OUT, { "stroke-width": 2.5, "data-value": "curve held out" });
  const element = draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      width,
      role: "img",
      "aria-label": `The loss over ${steps} steps; the numbers stand beside it`,
    },
    rule(left, height - bottom, width - right, height - bottom),
    rule(left, top, left, height - bottom),
    text([left - 6, y(0) + 4], "end", "0"),
    text([left - 6, y(most) + 4], "end", fixed(most, 1)),
    text([x(0), height - bottom + 16], "middle", "0"),
    text([x(steps), height - bottom + 16], "end", String(steps)),
    text([(left + width - right) / 2, height - 6], "middle", "step"),
    text([4, 12], "start", "loss (nats per character)"),
    text([width - right, 12], "end", "thin: each batch, thick: held out"),
    levels.flatMap(([name, loss], i) => [
      rule(left, y(loss), width - right, y(loss), { "stroke-dasharray": "4 4" }),
      text([width - right, y(loss) + (i ? -4 : 13)], "end", `${name} ${fixed(loss)}`),
    ]),
    batches,
    heldOut,
  );
  const path = (points) =>
    points
      .map(([step, loss], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(loss).toFixed(1)}`)
      .join("");
  return {
    element,
    /** @param {number[]} losses one for each step so far */
    showBatches(losses) {
      const size = Math.ceil(losses.length / MOST_POINTS);
      const points = [];
      for (let from = 0; from < losses.length; from += size) {
        const some = losses.slice(from, from + size);
        points.push([
          from + (some.length + 1) / 2,
          some.reduce((sum, loss) => sum + loss, 0) / some.length,
        ]);
      }
      batches.setAttribute("d", path(points));
    },
    /** @param {[number, number][]} points pairs of a step and a loss */
    showHeldOut(points) {
      heldOut.setAttribute("d", path(points));
    },
  };
}
