import { menu, slider } from "./shared/controls.js";
import { matmul, transpose } from "./shared/mathematics.js";
import { draw, h, table } from "./shared/page.js";
import { fixed } from "./shared/words.js";

const SIZE = 240;
const UNIT = 90; // a length of 1, in the drawing
const POINTS = 90; // of the ellipse
const AXES = [
  { name: "strong", line: "unbroken" },
  { name: "weak", line: "dashed", dashes: "7 4" },
];

/** The ellipse that a matrix makes of a circle, and what Newton-Schulz makes of the ellipse. */
export function render({ state, el }) {
  let { ratio, angle } = state;
  let rounds = 0;
  const right = turn(state.reads);
  const picture = h("div", { class: "panels" });
  const numbers = h("div", { "aria-live": "polite" });

  const show = () => {
    const left = turn(angle);
    const matrix = repeated(gradient(left, right, ratio), rounds, state.coefficients);
    // Seen from its singular directions, the matrix holds its singular values.
    const within = matmul(transpose(left), matmul(matrix, right));
    const lengths = [within[0][0], within[1][1]];
    picture.replaceChildren(drawing(matrix, left, lengths));
    numbers.replaceChildren(...inWords(matrix, lengths, angle, rounds));
  };
  const named = (one) => `${one} to 1`;
  el.append(
    h(
      "div",
      { class: "controls" },
      menu({
        name: "ratio",
        label: "Strong to weak, before",
        options: state.ratios.map(named),
        value: named(ratio),
        change: (chosen) => {
          ratio = Number.parseInt(chosen, 10);
          show();
        },
      }),
      slider({
        name: "angle",
        label: "Angle of the strong direction",
        min: 0,
        max: 180 - state.step,
        step: state.step,
        value: angle,
        text: (degrees) => `${degrees}°`,
        change: (degrees) => {
          angle = degrees;
          show();
        },
      }),
      slider({
        name: "rounds",
        label: "Rounds",
        min: 0,
        max: state.rounds,
        value: rounds,
        change: (chosen) => {
          rounds = chosen;
          show();
        },
      }),
    ),
    picture,
    numbers,
  );
  show();
}

/** A turn by so many degrees; its columns are two directions at right angles. */
function turn(degrees) {
  const [cosine, sine] = [Math.cos, Math.sin].map((one) => one((degrees * Math.PI) / 180));
  return [
    [cosine, -sine],
    [sine, cosine],
  ];
}

/** Two singular directions, divided by the root of the sum of their squares. */
function gradient(left, right, ratio) {
  const size = Math.hypot(ratio, 1);
  const strengths = [
    [ratio / size, 0],
    [0, 1 / size],
  ];
  return matmul(left, matmul(strengths, transpose(right)));
}

function repeated(matrix, rounds, [a, b, c]) {
  if (rounds === 0) return matrix;
  const square = matmul(matrix, transpose(matrix));
  const third = matmul(square, matrix);
  const fifth = matmul(square, third);
  const next = matrix.map((row, i) =>
    row.map((one, j) => a * one + b * third[i][j] + c * fifth[i][j]),
  );
  return repeated(next, rounds - 1, [a, b, c]);
}

function drawing(matrix, left, lengths) {
  const middle = SIZE / 2;
  const place = ([x, y]) => [middle + UNIT * x, middle - UNIT * y];
  const points = Array.from({ length: POINTS }, (_, n) => {
    const around = (2 * Math.PI * n) / POINTS;
    const [[x], [y]] = matmul(matrix, [[Math.cos(around)], [Math.sin(around)]]);
    return place([x, y]);
  });
  const told = AXES.map(({ name }, i) => `${name} half-axis ${fixed(lengths[i])}`);
  return draw(
    "svg",
    {
      viewBox: `0 0 ${SIZE} ${SIZE}`,
      width: SIZE,
      role: "img",
      "aria-label": `An ellipse in a circle of radius 1: ${told.join(", ")}`,
    },
    draw("circle", {
      cx: middle,
      cy: middle,
      r: UNIT,
      fill: "none",
      stroke: "currentColor",
      "stroke-opacity": 0.35,
    }),
    draw("polygon", {
      points: points.map((point) => point.map((one) => one.toFixed(1)).join(",")).join(" "),
      fill: "currentColor",
      "fill-opacity": 0.12,
      stroke: "currentColor",
      "stroke-width": 2,
    }),
    AXES.map(({ dashes }, i) => {
      const [x, y] = [left[0][i] * lengths[i], left[1][i] * lengths[i]];
      const [[x1, y1], [x2, y2]] = [place([-x, -y]), place([x, y])];
      return draw("line", {
        x1,
        y1,
        x2,
        y2,
        stroke: "currentColor",
        "stroke-width": 3,
        "stroke-dasharray": dashes,
      });
    }),
  );
}

function inWords(matrix, lengths, angle, rounds) {
  const value = (name, text) => h("output", { "data-value": name }, text);
  const rows = matrix.map((row, i) =>
    row.map((one, j) => h("td", {}, value(`number ${2 * i + j}`, fixed(one)))),
  );
  const times = rounds === 1 ? "1 round" : `${rounds} rounds`;
  const after = rounds === 0 ? "divided by its norm" : `after ${times}`;
  return [
    ...AXES.map(({ name, line }, i) =>
      h(
        "p",
        { class: "note" },
        `The ${name} direction (${line}), at ${(angle + 90 * i) % 180}°: `,
        value(name, fixed(lengths[i])),
      ),
    ),
    h("p", { class: "note" }, `The matrix, ${after}:`),
    table(null, null, rows, { "aria-label": "The matrix" }),
  ];
}
