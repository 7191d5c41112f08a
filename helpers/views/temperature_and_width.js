import { slider, tick } from "./shared/controls.js";
import { softmax, sum } from "./shared/mathematics.js";
import { COLOURS, draw, freshId, h, scroll, table } from "./shared/page.js";
import { fixed } from "./shared/words.js";

const TEMPERATURES = [0.25, 0.5, 1, 2, 4, 8, 16, 32];
const PICTURE = { width: 320, height: 150, foot: 34, reach: 25 }; // scores from -25 to 25

/** Scores of random vectors, divided or not, and what softmax makes of one row of them. */
export function render({ state, el }) {
  const { widths } = state;
  const queries = state.scores[0].map((_, i) => i + 1);
  const chosen = { width: state.width, divided: false, temperature: 1, query: 1 };
  const numbers = h("div");
  const weightsOfRow = h("div");
  const note = h("p", { class: "note" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const show = () => {
    const place = widths.indexOf(chosen.width);
    const divisor = (chosen.divided ? Math.sqrt(chosen.width) : 1) * chosen.temperature;
    const scores = state.scores[place][chosen.query - 1].map((score) => score / divisor);
    const weights = softmax(scores);
    const root = Math.sqrt(chosen.width);
    const divided = softmax(state.scores[place][chosen.query - 1].map((score) => score / root));
    // The bins count in standard deviations of theory.
    const unit = Math.sqrt(chosen.width) / divisor;
    numbers.replaceChildren(
      histogram(state, state.shares[place], unit, scores),
      measures(state.spreads[place] / divisor, weights, divided, chosen.query),
    );
    weightsOfRow.replaceChildren(rowTable(`The weights of query ${chosen.query}`, scores, weights));
    const outside = scores.filter((score) => Math.abs(score) > PICTURE.reach).length;
    note.textContent =
      `How ${state.count.toLocaleString("en")} scores are spread. ` +
      `Below the axis, the ${scores.length} of one query` +
      (outside === 0 ? "." : `, ${outside} of them outside the picture.`);
    sentence.textContent = reading(chosen, weights);
  };
  const change = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const control = (name, label, choices) =>
    slider({ name, label, choices, value: chosen[name], change: change(name) });

  el.append(
    h(
      "div",
      { class: "controls" },
      control("width", "width D", widths),
      tick({
        name: "divided",
        label: "divide by √D",
        value: chosen.divided,
        change: change("divided"),
      }),
      control("temperature", "temperature", TEMPERATURES),
      queries.length > 1 ? control("query", "query", queries) : null,
    ),
    h(
      "div",
      { class: "panels" },
      h("div", { class: "beside" }, note, numbers, sentence),
      weightsOfRow,
    ),
  );
  show();
}

/** Entropy in nats; a weight of 0 adds nothing. */
const nats = (weights) =>
  -sum(weights.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0)));

/** What is to be seen, in words. */
function reading({ width, divided, temperature, query }, weights) {
  const divisors = [
    divided ? `√${width} = ${fixed(Math.sqrt(width))}` : "",
    temperature === 1 ? "" : `a temperature of ${temperature}`,
  ];
  const by = divisors.filter((one) => one !== "").join(" and by ");
  const best = weights.indexOf(Math.max(...weights));
  return (
    `${by ? `Divided by ${by}` : "Not divided"}, query ${query} spreads its weights as if over ` +
    `${fixed(Math.exp(nats(weights)), 1)} of ${weights.length} keys; ` +
    `key ${best + 1} gets the most, ${fixed(weights[best])}.`
  );
}

/** All scores as an outline that widens with them; a line below for each score of the row. */
function histogram(state, shares, unit, scores) {
  const { width, height, foot, reach } = PICTURE;
  const clip = freshId("picture");
  const x = (score) => (score / reach + 1) * (width / 2);
  const bin = (2 * state.reach * unit) / shares.length;
  const top = Math.max(...shares);
  const steps = shares.map(
    (share, i) =>
      `V${height - (share / top) * (height - 8)}H${x(-state.reach * unit + (i + 1) * bin)}`,
  );
  const upright = (score, to, attributes) =>
    draw("line", {
      x1: x(score),
      x2: x(score),
      y1: height,
      y2: to,
      stroke: "currentColor",
      ...attributes,
    });
  return draw(
    "svg",
    {
      viewBox: `0 0 ${width} ${height + foot}`,
      width,
      role: "img",
      "aria-label": `How the scores are spread, on an axis from -${reach} to ${reach}`,
    },
    draw("clipPath", { id: clip }, draw("rect", { width, height: height + foot })),
    draw(
      "g",
      { "clip-path": `url(#${clip})` },
      draw("path", {
        d: `M${x(-state.reach * unit)} ${height}${steps.join("")}V${height}Z`,
        "data-value": "outline",
        fill: "currentColor",
        "fill-opacity": 0.2,
        stroke: "currentColor",
      }),
      scores.map((score) =>
        upright(score, height + 11, { stroke: COLOURS.weights, "stroke-width": 2 }),
      ),
    ),
    draw("line", { x1: 0, x2: width, y1: height, y2: height, stroke: "currentColor" }),
    [-20, -10, 0, 10, 20].flatMap((score) => [
      upright(score, height + 15, { "stroke-opacity": 0.5 }),
      draw("text", { x: x(score), y: height + 29, "text-anchor": "middle" }, String(score)),
    ]),
  );
}

/** The numbers of the picture and of the row. */
function measures(spread, weights, divided, query) {
  const line = (label, name, text) => [
    h("th", { scope: "row", class: "sentence" }, label),
    h("td", { "data-value": name }, text),
  ];
  const most = fixed(Math.log(weights.length));
  return table(null, null, [
    line("standard deviation of all scores", "spread", fixed(spread)),
    line(
      `entropy of query ${query}'s weights (at most ${most} nats)`,
      "entropy",
      fixed(nats(weights), 4),
    ),
    line("to compare: divided by √D, temperature 1", "compared", fixed(nats(divided), 4)),
  ]);
}

/** One query's scores and weights: a bar and two numbers for each key. */
function rowTable(caption, scores, weights) {
  const row = (weight, j) => [
    h("th", { scope: "row", class: "keys" }, String(j + 1)),
    h("td", { "data-value": `score ${j}` }, fixed(scores[j])),
    h("td", { "data-value": `weight ${j}`, class: "weights" }, fixed(weight, 4)),
    h("td", { class: "weight-bar" }, h("div", { style: `width: ${100 * weight}%` })),
  ];
  const wide = h("th", { scope: "colgroup", colspan: 2, class: "sentence" }, "weight");
  return scroll(
    caption,
    table(caption, ["key", "score", wide], weights.map(row), { class: "small" }),
  );
}
