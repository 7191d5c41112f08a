// Arcs from one token to others, as thick as the weights between them.

import { COLOURS, draw } from "./page.js";

export const LEAST_ARC = 0.02; // a smaller weight has no arc

/** @typedef {{ x: number, y: number }} Point */

const MARGIN = 3; // left of all tokens, where a way from line to line lies
const ABOVE = 6; // a line of tokens, where it goes to that edge
const ROUND = 5; // of its corners
const LOW = 22; // for an arc that stays between two lines of tokens, which on a phone are close

/**
 * An arc over what stands between two points; a head that is off has a dashed one. `way` leads from
 * one point to the other.
 * @param {Point} from
 * @param {Point} to
 * @param {number} weight
 */
export function arc(from, to, weight, works = true, way = over) {
  return draw("path", {
    d: way(from, to),
    fill: "none",
    stroke: works ? COLOURS.weights : "currentColor",
    "stroke-width": (0.6 + 3 * weight).toFixed(2),
    "stroke-opacity": (works ? 0.25 + 0.7 * weight : 0.5).toFixed(2),
    "stroke-dasharray": works ? undefined : "5 4",
  });
}

function over(from, to, most = 30) {
  const top = Math.min(from.y, to.y) - Math.min(most, 8 + Math.abs(from.x - to.x) / 6);
  return `M ${from.x} ${from.y} Q ${(from.x + to.x) / 2} ${top} ${to.x} ${to.y}`;
}

/** Between two lines of tokens, so that it crosses none. */
function around(from, to) {
  const [above, there] = [from.y - ABOVE, to.y - ABOVE];
  const turn = Math.sign(there - above) * ROUND;
  return (
    `M ${from.x} ${from.y} Q ${from.x} ${above} ${from.x - ROUND} ${above} ` +
    `H ${MARGIN + ROUND} Q ${MARGIN} ${above} ${MARGIN} ${above + turn} ` +
    `V ${there - turn} Q ${MARGIN} ${there} ${MARGIN + ROUND} ${there} ` +
    `H ${to.x - ROUND} Q ${to.x} ${there} ${to.x} ${to.y}`
  );
}

/**
 * Arcs over a row of tokens, which may go on in a line below. Returns the element, which lies over
 * the row, and `show(from, weights, works)`: from the token of that index to all others.
 * @param {HTMLElement} row whose children are the tokens
 */
export function arcsOver(row) {
  const drawing = draw("svg", { class: "arcs", "aria-hidden": "true" });
  /** @type {{ from: number | null, weights: number[], works: boolean }} */
  let shown = { from: null, weights: [], works: true };
  let due = 0;
  /** In the next frame, which measures the page anyway. */
  const repaint = () => {
    due ||= requestAnimationFrame(paint);
  };
  const paint = () => {
    due = 0;
    const { from, weights, works } = shown;
    const point = (i) => {
      const token = /** @type {HTMLElement} */ (row.children[i]);
      return { x: token.offsetLeft + token.offsetWidth / 2, y: token.offsetTop };
    };
    const wayTo = (start, end, weight, works) =>
      arc(
        start,
        end,
        weight,
        works,
        start.y === end.y ? (one, other) => over(one, other, LOW) : around,
      );
    const arcTo = (weight, i) =>
      from === null || i === from || weight < LEAST_ARC
        ? []
        : [wayTo(point(from), point(i), weight, works)];
    drawing.replaceChildren(...weights.flatMap(arcTo));
  };
  new ResizeObserver(repaint).observe(row);
  return {
    element: drawing,
    /**
     * @param {number | null} from
     * @param {number[]} weights
     */
    show(from, weights, works = true) {
      shown = { from, weights, works };
      repaint();
    },
  };
}
