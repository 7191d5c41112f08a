import { handle } from "./shared/controls.js";
import { dot, matmul, softmax } from "./shared/mathematics.js";
import { COLOURS, draw, h, scroll, table } from "./shared/page.js";
import { axes, scale, segment, SIZE } from "./shared/plane.js";
import { fixed, isolated } from "./shared/words.js";

/** A query that moves among keys in the plane; the keys are their own values. */
export function render({ state, el }) {
  const { keys, names } = state;
  const lines = draw("g");
  const contexts = draw("g");
  const place = h("p", { class: "note", "data-value": "place" });
  const numbers = scroll("What each key gets");
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  /** @param {[number, number]} query */
  const show = (query) => {
    const scores = keys.map((key) => dot(query, key));
    const weights = softmax(scores);
    const top = Math.max(...scores);
    const best = names.map((_, i) => i).filter((i) => top - scores[i] < 1e-9);
    const [soft] = matmul([weights], keys);
    lines.replaceChildren(
      segment([0, 0], query, { stroke: COLOURS.queries, "stroke-width": 3 }),
      ...keys.map((key, i) => joining(query, key, weights[i])),
    );
    contexts.replaceChildren(
      ...best.map((i) => ring(...scale.to(keys[i][0], keys[i][1]))),
      diamond(...scale.to(soft[0], soft[1])),
    );
    place.textContent = `Query ${point(query)}, length ${fixed(Math.hypot(...query))}`;
    numbers.replaceChildren(numbersOf(names, scores, weights, best));
    const context = `The context is ${point(soft)}; ${maximum(names, best)}`;
    sentence.textContent = `${most(names, weights, best)} ${context}`;
  };

  const query = handle({
    name: "query",
    label: "query",
    at: state.query,
    scale,
    colour: COLOURS.queries,
    move: show,
  });
  el.append(
    h("p", { class: "note" }, "Drag the blue query, or move it with the arrow keys."),
    h(
      "div",
      { class: "panels" },
      h(
        "div",
        {},
        draw(
          "svg",
          {
            viewBox: `0 0 ${SIZE} ${SIZE}`,
            width: SIZE,
            role: "group",
            "aria-label": "The query, the keys and the context in the plane",
          },
          axes(),
          lines,
          keys.map((key, i) => landmark(key, names[i])),
          contexts,
          query,
        ),
        legend(),
      ),
      h("div", {}, place, numbers),
    ),
    sentence,
  );
  show(state.query);
}

const point = (numbers) => `(${numbers.map((number) => fixed(number)).join(", ")})`;

/** A weight, which is never 0. */
const share = (weight) => (weight < 0.00005 ? "< 0.0001" : fixed(weight, 4));

function most(names, weights, best) {
  if (best.length === names.length) return `All get the same: ${share(weights[0])}.`;
  if (best.length > 1) return `${best.length} keys get the most: ${share(weights[best[0]])} each.`;
  return `${isolated(names[best[0]])} gets the most: ${share(weights[best[0]])}.`;
}

function maximum(names, best) {
  if (best.length > 1) return "a hard maximum would have to break a tie.";
  return `a hard maximum would hand over ${isolated(names[best[0]])} alone.`;
}

/** A line as wide as its weight. */
function joining(query, key, weight) {
  return segment(query, key, {
    stroke: COLOURS.weights,
    "stroke-width": 1 + 9 * weight,
    "stroke-opacity": 0.35 + 0.5 * weight,
  });
}

/** A key and its name, which stands on the side away from the middle. */
function landmark(key, name) {
  const [x, y] = scale.to(key[0], key[1]);
  const anchor = x < 60 ? "start" : x > SIZE - 60 ? "end" : "middle";
  return draw(
    "g",
    {},
    square(x, y),
    draw(
      "text",
      {
        x: x + { start: -6, middle: 0, end: 6 }[anchor],
        y: key[1] < 0 ? y + 26 : y - 16,
        "text-anchor": anchor,
      },
      name,
    ),
  );
}

const square = (x, y) =>
  draw("rect", { x: x - 6, y: y - 6, width: 12, height: 12, fill: COLOURS.keys });

/** What softmax hands over. */
const diamond = (x, y) =>
  draw("path", {
    d: `M${x} ${y - 9}L${x + 9} ${y}L${x} ${y + 9}L${x - 9} ${y}Z`,
    fill: COLOURS.values,
    stroke: "currentColor",
  });

/** What a hard maximum hands over. */
const ring = (cx, cy) =>
  draw("circle", {
    cx,
    cy,
    r: 12,
    fill: "none",
    stroke: COLOURS.values,
    "stroke-width": 2,
    "stroke-dasharray": "4 3",
  });

function legend() {
  const entry = (mark, text) =>
    h(
      "span",
      { class: "entry" },
      draw("svg", { viewBox: "0 0 28 28", width: 18, "aria-hidden": "true" }, mark),
      text,
    );
  return h(
    "p",
    { class: "note keyed", style: `max-width: ${SIZE}px` },
    entry(draw("circle", { cx: 14, cy: 14, r: 10, fill: COLOURS.queries }), "query"),
    entry(square(14, 14), "key"),
    entry(diamond(14, 14), "context"),
    entry(ring(14, 14), "hard maximum"),
  );
}

function numbersOf(names, scores, weights, best) {
  const coloured = (role, text) => h("span", { class: role }, text);
  const hard = (i) => (!best.includes(i) ? "0" : best.length > 1 ? "tie" : "1");
  const row = (name, i) => [
    coloured("keys", name),
    h("td", { "data-value": `score ${i}` }, fixed(scores[i])),
    h("td", { "data-value": `weight ${i}` }, coloured("weights", share(weights[i]))),
    h("td", { "data-value": `maximum ${i}` }, hard(i)),
  ];
  return table("What each key gets", ["key", "score", "softmax", "max"], names.map(row));
}
