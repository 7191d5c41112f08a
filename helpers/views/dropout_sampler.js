import { button, menu, slider } from "./shared/controls.js";
import { randomFrom } from "./shared/mathematics.js";
import { COLOURS, h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated, several } from "./shared/words.js";

/** Masks drawn one after another, what each leaves of the weights, and the mean of it all. */
export function render({ state, el }) {
  const { weights, names } = state;
  let { p } = state;
  let mode = "train";
  let draws = drawing(state, p);
  const panels = h("div", { class: "panels" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const show = () => {
    const training = mode === "train";
    const each = (change) =>
      weights.map((row, i) => row.map((weight, j) => (training ? change(weight, i, j) : weight)));
    const one = each((weight, i, j) => (weight * draws.keep[i][j]) / (1 - p));
    const mean = each((weight, i, j) => (weight * draws.kept[i][j]) / (draws.count * (1 - p)));
    const off = (i, j) => training && !draws.keep[i][j];
    panels.replaceChildren(
      oneDraw(
        training ? `Draw ${counted(draws.count)}` : "Eval mode: the weights",
        names,
        weights,
        one,
        off,
      ),
      meanTable(
        `Mean over ${several(draws.count, "draw")}, the weight below it`,
        names,
        weights,
        mean,
      ),
    );
    sentence.replaceChildren(
      training
        ? trained(state, draws, p)
        : "In eval mode nothing is dropped, whatever p is: each draw is the weights.",
      " Largest difference between the mean and the weights: ",
      h("strong", { "data-value": "difference" }, fixed(largestDifference(mean, weights), 4)),
      ".",
    );
  };
  const drawMore = (times) => () => {
    draws.more(times);
    show();
  };
  const restart = (count) => {
    draws = drawing(state, p).more(count);
    show();
  };

  draws.more(1);
  el.append(
    h(
      "div",
      { class: "controls" },
      slider({
        name: "p",
        label: "p",
        choices: state.probabilities,
        value: p,
        text: (number) => fixed(number, 1),
        change: (number) => {
          p = number;
          restart(draws.count);
        },
      }),
      menu({
        name: "mode",
        label: "mode",
        options: ["train", "eval"],
        value: mode,
        change: (option) => {
          mode = option;
          show();
        },
      }),
      button({ name: "one", label: "Draw again", press: drawMore(1) }),
      button({ name: "thousand", label: "Draw 1,000", press: drawMore(1000) }),
      button({ name: "restart", label: "Start over", press: () => restart(1) }),
    ),
    panels,
    sentence,
  );
  show();
}

const counted = (count) => count.toLocaleString("en");

/**
 * Masks from the seed: the latest, how many there were, how often each entry was kept.
 * A uniform number keeps its weight when it is at least p, row by row.
 */
function drawing({ seed, weights }, p) {
  const random = randomFrom(seed);
  const zeros = () => weights.map((row) => row.map(() => 0));
  const draws = { count: 0, keep: zeros(), kept: zeros(), more };
  function more(times) {
    for (let time = 0; time < times; time += 1) {
      draws.keep = weights.map((row) => row.map(() => (random() >= p ? 1 : 0)));
      for (const [i, row] of draws.keep.entries())
        for (const [j, one] of row.entries()) draws.kept[i][j] += one;
    }
    draws.count += times;
    return draws;
  }
  return draws;
}

function largestDifference(one, other) {
  return Math.max(
    ...one.flatMap((row, i) => row.map((number, j) => Math.abs(number - other[i][j]))),
  );
}

/** What the latest mask did, in words; a weight of 0 has nothing to lose. */
function trained({ weights, names }, { keep }, p) {
  const places = weights
    .flatMap((row, i) => row.map((weight, j) => [weight, i, j]))
    .filter(([weight]) => weight > 0);
  const dropped = places.filter(([, i, j]) => !keep[i][j]).length;
  const lost = names.filter((_, i) => weights[i].every((weight, j) => weight === 0 || !keep[i][j]));
  const kept =
    dropped === places.length ? "none is left" : `the kept ones are divided by ${fixed(1 - p, 1)}`;
  const nothing = lost.length
    ? ` Nothing is left in ${lost.length > 1 ? "rows" : "row"} ${lost.map(isolated).join(", ")}.`
    : "";
  return `${dropped} of ${places.length} weights are dropped, ${kept}.${nothing}`;
}

/** A matrix of numbers with the words at its sides; `content` makes a cell. */
function grid(caption, names, weights, content) {
  return scroll(
    caption,
    table(
      caption,
      [null, ...names],
      weights.map((row, i) => [names[i], ...row.map((weight, j) => content(weight, i, j))]),
      { class: "tight small" },
    ),
  );
}

/** A cell as strongly coloured as its number is large. */
function shaded(number, attributes, ...children) {
  const colour = mixed(COLOURS.weights, 55 * Math.min(1, number));
  return h("td", { style: `background-color: ${colour}`, ...attributes }, ...children);
}

/** A cell of the future, as in the other views. */
const hidden = (place) => h("td", { class: "off", ...place }, "0");

/** The latest draw: the future is hatched, a dropped weight is a plain 0. */
function oneDraw(caption, names, weights, numbers, off) {
  return grid(caption, names, weights, (weight, i, j) => {
    const place = { "data-value": `draw ${i} ${j}` };
    if (weight === 0) return hidden(place);
    if (off(i, j)) return h("td", { "data-dropped": "", ...place }, "0");
    return shaded(numbers[i][j], place, fixed(numbers[i][j]));
  });
}

/** The mean, and below it in each cell the weight that it should come to. */
function meanTable(caption, names, weights, numbers) {
  return grid(caption, names, weights, (weight, i, j) => {
    const place = { "data-value": `mean ${i} ${j}` };
    if (weight === 0) return hidden(place);
    return shaded(
      numbers[i][j],
      {},
      h("div", place, fixed(numbers[i][j])),
      h("div", { class: "expected" }, fixed(weight)),
    );
  });
}
