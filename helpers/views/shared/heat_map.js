// Attention weights as a map: a table of numbers, or points where there are many.

import { COLOURS, h, mixed, scroll, table } from "./page.js";
import { fixed } from "./words.js";
const MOST_NUMBERS = 16; // up to that many tokens, a map has a number in each cell
const POINTS_A_SIDE = 128; // at most; in a longer text, each is the largest of several weights

/**
 * Weights as a map, a row for each query: with a number in each cell, or as points where there are
 * many. Returns the element, `update(rows, tokens, keys, hidden)` and `mark(side, index)`, which
 * frames a row or a column. Of points, the strongest from row `first` on is drawn darkest.
 * `point(i)` hears which row of points the mouse is on; null, when it
 * leaves.
 * @typedef {(i: number, j: number) => boolean} OfPair
 * @param {{ caption: string, first?: number, point?: (i: number | null) => void }} options
 */
export function heatMap({ caption, first = 0, point = () => {} }) {
  const frame = scroll(caption);
  const title = h("p", { class: "note" });
  const canvas = h("canvas", { role: "img", onpointerleave: () => point(null) });
  const mark = h("div");
  const pixels = h("div", { class: "pixels" }, canvas, mark);
  const body = h("div");
  const element = h("div", { class: "map" }, body);
  let cells = [];
  let marked = [];
  let sizes = [1, 1]; // of the weights: queries and keys
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * sizes[0]);
    if (event.pointerType === "mouse") point(Math.max(0, Math.min(sizes[0] - 1, row)));
  });
  const asTable = (rows, tokens, keys, hidden) => {
    const cell = (weight, i, j) =>
      h(
        "td",
        {
          class: hidden(i, j) ? "off" : undefined,
          "data-value": `weight ${i} ${j}`,
          style: hidden(i, j)
            ? undefined
            : `background: ${mixed(COLOURS.weights, 55 * Math.min(1, weight))}`,
        },
        fixed(weight),
      );
    cells = tokens.map((_, i) => keys.map((_, j) => cell(rows[i][j], i, j)));
    frame.replaceChildren(
      table(
        caption,
        [null, ...keys.map((name) => h("th", { scope: "col", class: "keys" }, name))],
        cells.map((row, i) => [h("th", { scope: "row", class: "queries" }, tokens[i]), ...row]),
      ),
    );
    body.replaceChildren(frame);
  };
  const asPoints = (rows, tokens, keys, hidden) => {
    cells = [];
    sizes = [tokens.length, keys.length];
    const [height, width] = sizes.map((size) => Math.min(size, POINTS_A_SIDE));
    [canvas.width, canvas.height] = [width, height];
    const top = Math.max(1e-9, ...rows.slice(first).map((row) => Math.max(...row)));
    const picture = new ImageData(width, height);
    const [red, green, blue] = [1, 3, 5].map((i) => parseInt(COLOURS.weights.slice(i, i + 2), 16));
    for (const i of tokens.keys())
      for (const j of keys.keys()) {
        const down = Math.floor((i * height) / tokens.length);
        const at = 4 * (down * width + Math.floor((j * width) / keys.length));
        const isHidden = hidden(i, j);
        const strength = isHidden ? 50 : Math.round(255 * Math.min(1, rows[i][j] / top));
        const isSeen = picture.data[at] === red; // one of the point's weights isn't hidden
        if (isSeen && (isHidden || strength < picture.data[at + 3])) continue;
        picture.data.set(isHidden ? [128, 128, 128, 50] : [red, green, blue, strength], at);
      }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.putImageData(picture, 0, 0);
    canvas.setAttribute(
      "aria-label",
      `${height} rows of ${width} points, the strongest for ${fixed(top)}`,
    );
    const pooled = width < keys.length ? " Each point is the largest of several weights." : "";
    title.textContent = `${caption}. The strongest point is ${fixed(top)}.${pooled}`;
    body.replaceChildren(title, pixels);
  };
  return {
    element,
    /** @param {OfPair} hidden */
    update(rows, tokens, keys = tokens, hidden = () => false) {
      const many = Math.max(tokens.length, keys.length) > MOST_NUMBERS;
      (many ? asPoints : asTable)(rows, tokens, keys, hidden);
      marked = [];
    },
    mark(side, index) {
      for (const cell of marked) cell.classList.remove("chosen", "column");
      marked = !side
        ? []
        : side === "queries"
          ? (cells[index] ?? [])
          : cells.map((row) => row[index]);
      for (const cell of marked)
        cell.classList.add("chosen", ...(side === "keys" ? ["column"] : []));
      const [height, width] = sizes.map((size) => 100 / size);
      mark.setAttribute(
        "style",
        !side
          ? "display: none"
          : side === "queries"
            ? `left: 0; width: 100%; top: ${index * height}%; height: ${height}%`
            : `top: 0; height: 100%; left: ${index * width}%; width: ${width}%`,
      );
    },
  };
}
