import { menu, slider } from "./shared/controls.js";
import { matmul, softmax, sum, transpose } from "./shared/mathematics.js";
import { COLOURS, h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

// True = query t may attend to key s.
const MASKS = {
  none: () => true,
  causal: (t, s) => s <= t,
  "sliding window": (t, s, size) => s <= t && s > t - size,
  padding: (_t, s, size) => s < size,
  prefix: (t, s, size) => s <= t || s < size,
};
const SIZES = {
  "sliding window": "words in the window",
  padding: "real words",
  prefix: "words in the prefix",
};
const OWN = "your own";
const NOBODY = "no word";
const NEUTRAL = "#56B4E9";

/** A mask that is chosen or painted, its weights, and the contexts that a word moves. */
export function render({ state, el }) {
  const T = state.words.length;
  const sizes = {
    "sliding window": Math.min(3, T),
    padding: Math.max(1, T - 2),
    prefix: Math.min(2, T),
  };
  let kind = "causal";
  let mask = maskOf(kind, T);
  /** @type {number | null} */
  let replaced = null;

  const sized = h("span");
  const numbers = h("div");
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const grid = weightsGrid(T, (t, s) => {
    mask = mask.map((row, i) => row.map((may, j) => (i === t && j === s ? !may : may)));
    choose(OWN);
    /** @type {HTMLSelectElement} */ (masks.querySelector("select")).value = OWN;
  });

  const show = () => {
    const inputs = state.inputs.map((row, t) => (t === replaced ? state.replacement : row));
    const words = state.words.map((word, t) => (t === replaced ? state.replacementWord : word));
    const before = attend(state, state.inputs, mask);
    const now = attend(state, inputs, mask);
    const changes =
      replaced === null
        ? null
        : now.contexts.map((row, t) => row && farthest(row, before.contexts[t]));
    grid.show(now.weights, mask, words);
    numbers.replaceChildren(contextTable(now, words, changes));
    sentence.textContent = [
      describe(kind, sizes[kind], T),
      `${sum(mask.flat().map(Number))} of ${T * T} pairs may attend.`,
      ...words
        .filter((_, t) => !now.weights[t])
        .map(
          (word) =>
            `Row ${isolated(word)} may attend to nothing: softmax would divide 0 by 0, ` +
            "so it has no weights and no context.",
        ),
      changes
        ? movement(state, words, changes, replaced)
        : "Replace a word to see which contexts move.",
    ].join(" ");
  };
  const choose = (name) => {
    kind = name;
    if (kind !== OWN) mask = maskOf(kind, T, sizes[kind]);
    sized.replaceChildren(...(kind in SIZES ? [sizeSlider()] : []));
    show();
  };
  const sizeSlider = () =>
    slider({
      name: "size",
      label: SIZES[kind],
      min: 1,
      max: T,
      value: sizes[kind],
      change: (size) => {
        sizes[kind] = size;
        mask = maskOf(kind, T, size);
        show();
      },
    });
  const masks = menu({
    name: "mask",
    label: "mask",
    options: [...Object.keys(MASKS), OWN],
    value: kind,
    change: choose,
  });
  const places = [NOBODY, ...state.words.map((word, t) => `${t}: ${word}`)];
  const replacing = menu({
    name: "word",
    label: "replace",
    options: places,
    value: NOBODY,
    change: (place) => {
      replaced = place === NOBODY ? null : places.indexOf(place) - 1;
      show();
    },
  });
  replacing.append(` with ${isolated(state.replacementWord)}`);
  el.append(
    h("div", { class: "controls" }, masks, sized, replacing),
    h(
      "p",
      { class: "note" },
      "Paint: click a cell, or move there with the arrow keys and press Space.",
    ),
    h("div", { class: "panels" }, grid.element, numbers),
    sentence,
  );
  choose(kind);
}

function maskOf(kind, T, size) {
  return Array.from({ length: T }, (_, t) =>
    Array.from({ length: T }, (_, s) => MASKS[kind](t, s, size)),
  );
}

/** The weights and contexts of one head; null for a row that may attend to nothing. */
function attend({ W_query, W_key, W_value }, inputs, mask) {
  const [queries, keys, values] = [W_query, W_key, W_value].map((matrix) => matmul(inputs, matrix));
  const scale = Math.sqrt(queries[0].length);
  const weights = matmul(queries, transpose(keys)).map((scores, t) =>
    mask[t].includes(true)
      ? softmax(scores.map((score, s) => (mask[t][s] ? score / scale : -Infinity)))
      : null,
  );
  return { weights, contexts: weights.map((row) => row && matmul([row], values)[0]) };
}

function farthest(one, other) {
  return Math.max(...one.map((number, i) => Math.abs(number - other[i])));
}

function describe(kind, size, T) {
  return {
    none: "No mask: every word sees every word;",
    causal: "Causal: each word sees itself and those before it;",
    "sliding window": `Sliding window: each word sees itself and at most ${size - 1} before it;`,
    padding:
      size < T
        ? `Padding: words from position ${size} on are filler that nobody sees;`
        : "Padding: no word is filler here;",
    prefix: `Prefix: each word sees the first ${size}, itself and those before it;`,
    [OWN]: "Your own mask:",
  }[kind];
}

/** Which contexts the replaced word moves, in words. */
function movement(state, words, changes, replaced) {
  const moved = words.filter((_, t) => hasMoved(changes[t]));
  const earlier = changes.slice(0, replaced).filter((change) => change !== null);
  const leak = Math.max(0, ...earlier);
  const [now, before] = [state.replacementWord, state.words[replaced]].map(isolated);
  const names = moved.length ? `: ${moved.map(isolated).join(", ")}` : "";
  const start =
    `With ${now} in place of ${before}, ${moved.length} of ${words.length} contexts ` +
    `${moved.length === 1 ? "moves" : "move"}${names}.`;
  if (!earlier.length) return start;
  return (
    `${start} In the rows before it, the largest change is ${fixed(leak, 4)}: ` +
    (hasMoved(leak) ? "they see the future." : "they do not see it.")
  );
}

/** Whether a change shows in four decimals. */
function hasMoved(change) {
  return change !== null && Number(fixed(change, 4)) > 0;
}

// --- the weights: one control of T x T boxes -------------------------------------------

/** A grid with one Tab stop: arrow keys move in it, Space or a click toggles a pair. */
function weightsGrid(T, toggle) {
  let at = [0, 0];
  const range = [...Array(T).keys()];
  const boxes = range.map(() =>
    range.map(() =>
      h("span", {
        role: "checkbox",
        tabindex: -1,
      }),
    ),
  );
  const cells = boxes.map((row) => row.map((box) => h("td", {}, box)));
  const heads = {
    keys: range.map(() => h("th", { scope: "col", class: "keys" })),
    queries: range.map(() => h("th", { scope: "row", class: "queries" })),
  };
  const go = (t, s) => {
    boxes[at[0]][at[1]].tabIndex = -1;
    delete boxes[at[0]][at[1]].dataset.control;
    at = [t, s];
    boxes[t][s].tabIndex = 0;
    boxes[t][s].dataset.control = "cell";
  };
  go(0, 0);
  for (const [t, row] of cells.entries())
    for (const [s, cell] of row.entries())
      cell.addEventListener("click", () => {
        go(t, s);
        boxes[t][s].focus();
        toggle(t, s);
      });
  const grid = table(
    null,
    [null, ...heads.keys],
    cells.map((row, t) => [heads.queries[t], ...row]),
    {
      role: "grid",
      "aria-label": "Weights: a row for each query, a column for each key",
      onkeydown: (event) => {
        const by = {
          ArrowLeft: [0, -1],
          ArrowRight: [0, 1],
          ArrowUp: [-1, 0],
          ArrowDown: [1, 0],
          " ": [0, 0],
        }[event.key];
        if (!by) return;
        event.preventDefault();
        const [t, s] = at.map((place, axis) => Math.max(0, Math.min(T - 1, place + by[axis])));
        if (event.key === " ") return toggle(t, s);
        go(t, s);
        boxes[t][s].focus();
      },
    },
  );
  const show = (weights, mask, words) => {
    for (const list of [heads.keys, heads.queries])
      list.forEach((head, t) => {
        head.textContent = words[t];
      });
    for (const [t, row] of boxes.entries())
      for (const [s, box] of row.entries()) {
        const may = mask[t][s];
        const text = may ? fixed(weights[t][s]) : weights[t] ? "0" : "–";
        box.textContent = text;
        box.dataset.value = `weight ${t} ${s}`;
        box.setAttribute("aria-checked", may);
        box.setAttribute("aria-label", `${words[t]} may attend to ${words[s]}, weight ${text}`);
        cells[t][s].className = may ? "" : "off";
        cells[t][s].style.background = may ? mixed(COLOURS.weights, 55 * weights[t][s]) : "";
      }
  };
  const element = h(
    "div",
    { class: "painter" },
    h("strong", {}, "Weights"),
    scroll("Weights", grid),
  );
  return { element, show };
}

/** What each row makes of its weights, and how far a replaced word moves it. */
function contextTable({ weights, contexts }, words, changes) {
  const width = contexts.find(Boolean)?.length ?? 1;
  const shade = (change) => (hasMoved(change) ? `background: ${mixed(NEUTRAL, 45)}` : undefined);
  const moved = (t) =>
    h(
      "td",
      { "data-value": `change ${t}`, style: shade(changes[t]) },
      changes[t] === null ? "none" : fixed(changes[t], 4),
    );
  const row = (word, t) => [
    word,
    h("td", { "data-value": `sum ${t}` }, weights[t] ? fixed(sum(weights[t])) : "none"),
    ...(contexts[t]?.map((number, d) =>
      h("td", { "data-value": `context ${t} ${d}`, class: "values" }, fixed(number)),
    ) ?? [h("td", { colspan: width, "data-value": `context ${t} 0` }, "none")]),
    ...(changes ? [moved(t)] : []),
  ];
  const wide = h("th", { scope: "col", colspan: width }, "context");
  const heads = [null, "sum", wide, ...(changes ? ["moved by"] : [])];
  return h(
    "div",
    { class: "painter" },
    h("strong", {}, "Contexts"),
    scroll("Contexts", table(null, heads, words.map(row))),
  );
}
