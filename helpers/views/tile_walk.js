import { button, menu, slider } from "./shared/controls.js";
import { COLOURS, h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

const LEGEND =
  "Numbers: the tile of this step. Dots: computed before and forgotten. " +
  "Empty: still to come. Hatched: hidden by the mask.";
const SIZES = ["1", "2", "4", "8", "all"];

/** A table of scores of which one tile at a time is there, and a row's softmax meanwhile. */
export function render({ state, el }) {
  const { scores, values, names, window } = state;
  const T = names.length;
  const masks = ["causal", "none", `window of ${window}`];
  const sizes = SIZES.filter((size) => size === "all" || Number(size) < T);
  let [tile, mask] = [state.tile, masks[0]];
  if (!sizes.includes(String(tile)) && tile < T) sizes.unshift(String(tile));
  const sees = (i, j) => mask === "none" || (j <= i && (mask === "causal" || i - j < window));
  let walk = tilesOf(T, tile, sees);
  let step = Math.ceil(walk.needed.length / 2);
  let row = Math.max(...walk.needed[step - 1].rows);

  const stepper = h("span", {});
  const table = h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Scores" });
  const told = h("div", { "aria-live": "polite" });
  const show = () => {
    const state = { scores, names, sees, walk, step, row };
    table.replaceChildren(grid(state));
    told.replaceChildren(...inWords({ ...state, values }));
  };
  /** A slider over this walk's tiles; another walk has another number of them. */
  const layOut = () => {
    walk = tilesOf(T, tile, sees);
    step = Math.ceil(walk.needed.length / 2);
    stepper.replaceChildren(
      slider({
        name: "step",
        label: "Step",
        min: 0,
        max: walk.needed.length,
        value: step,
        change: (chosen) => {
          step = chosen;
          show();
        },
      }),
    );
    show();
  };
  const go = (by) => () => {
    const input = /** @type {HTMLInputElement} */ (stepper.querySelector("input"));
    input.value = String(step + by); // the slider keeps it between its ends
    input.dispatchEvent(new Event("input"));
  };
  el.append(
    h(
      "div",
      { class: "controls" },
      stepper,
      button({ name: "back", label: "One back", press: go(-1) }),
      button({ name: "on", label: "One on", press: go(1) }),
      menu({
        name: "tile",
        label: "Tile",
        options: sizes,
        value: tile < T ? String(tile) : "all",
        change: (chosen) => {
          tile = chosen === "all" ? T : Number(chosen);
          layOut();
        },
      }),
      menu({
        name: "mask",
        label: "Mask",
        options: masks,
        value: mask,
        change: (chosen) => {
          mask = chosen;
          layOut();
        },
      }),
      slider({
        name: "row",
        label: "Row to watch",
        min: 0,
        max: T - 1,
        value: row,
        text: (i) => isolated(names[i]),
        change: (chosen) => {
          row = chosen;
          show();
        },
      }),
    ),
    table,
    h("p", { class: "note" }, LEGEND),
    told,
  );
  layOut();
}

/** The tiles with a score that isn't hidden, row by row, and how many others there are. */
function tilesOf(T, tile, sees) {
  const starts = Array.from({ length: Math.ceil(T / tile) }, (_, n) => n * tile);
  const part = (start) => range(start, Math.min(start + tile, T));
  const all = starts.flatMap((top) =>
    starts.map((left) => ({ rows: part(top), columns: part(left) })),
  );
  const needed = all.filter(({ rows, columns }) =>
    rows.some((i) => columns.some((j) => sees(i, j))),
  );
  return { needed, skipped: all.length - needed.length };
}

const range = (start, end) => Array.from({ length: end - start }, (_, n) => start + n);
const holds = ({ rows, columns }, i, j) => rows.includes(i) && columns.includes(j);

/** The table: numbers in this step's tile, shades where tiles are done, hatches where hidden. */
function grid({ scores, names, sees, walk, step, row }) {
  const [now, done] = [walk.needed[step - 1], walk.needed.slice(0, Math.max(0, step - 1))];
  const cell = (i, j) => {
    const here = now !== undefined && holds(now, i, j);
    const past = done.some((one) => holds(one, i, j));
    const kind = here ? "this-tile" : "";
    const shade = `background: ${mixed(COLOURS.weights, here ? 45 : 18)}`;
    return h(
      "td",
      {
        class: sees(i, j) ? kind : `${kind} off`,
        style: sees(i, j) && (here || past) ? shade : undefined,
      },
      here && sees(i, j) ? fixed(scores[i][j], 1) : past && sees(i, j) ? "·" : "    ",
    );
  };
  const isolatedNames = names.map(isolated);
  return table(
    null,
    [null, ...isolatedNames],
    isolatedNames.map((name, i) => [
      i === row ? `▸ ${name}` : name,
      ...names.map((_, j) => cell(i, j)),
    ]),
  );
}

/** What the watched row has kept after each of its tiles so far. */
function keptBy({ scores, values, sees, walk, step, row }) {
  let kept = { largest: -Infinity, factor: 0, sum: 0, weighted: 0 };
  return walk.needed
    .slice(0, step)
    .filter(({ rows }) => rows.includes(row))
    .map(({ columns }) => {
      const seen = columns.filter((j) => sees(row, j));
      const largest = Math.max(kept.largest, ...seen.map((j) => scores[row][j]));
      // A row may see nothing in a tile that another row needs.
      const factor = largest === kept.largest ? 1 : Math.exp(kept.largest - largest);
      let [sum, weighted] = [factor * kept.sum, factor * kept.weighted];
      for (const j of seen) {
        const exponential = Math.exp(scores[row][j] - largest);
        sum += exponential;
        weighted += exponential * values[j];
      }
      kept = { largest, factor, sum, weighted };
      return { ...kept, columns };
    });
}

/** The row's context from all its scores at once. */
function atOnce({ scores, values, sees, row }) {
  const seen = range(0, values.length).filter((j) => sees(row, j));
  const largest = Math.max(...seen.map((j) => scores[row][j]));
  const exponentials = seen.map((j) => Math.exp(scores[row][j] - largest));
  const sum = exponentials.reduce((one, other) => one + other, 0);
  return seen.reduce((total, j, n) => total + (exponentials[n] / sum) * values[j], 0);
}

const value = (name, text) => h("output", { "data-value": name }, text);

function inWords(shown) {
  const { names, walk, step, row } = shown;
  const [tiles, now] = [walk.needed.length, walk.needed[step - 1]];
  const [rows, scores] = now ? [now.rows.length, now.rows.length * now.columns.length] : [0, 0];
  const found = keptBy(shown);
  const left = walk.needed.slice(step).some((one) => one.rows.includes(row));
  return [
    h(
      "p",
      { class: "note" },
      value("tiles", `${step} of ${tiles}`),
      ` tiles computed; ${walk.skipped} hidden ones are skipped. Held now: `,
      value("held", `${scores + 3 * rows}`),
      ` numbers, ${scores} scores and 3 for each of ${rows} rows. The whole table has `,
      `${names.length ** 2}.`,
    ),
    found.length === 0
      ? h("p", { class: "note" }, `The row of ${isolated(names[row])} hasn't begun.`)
      : scroll("Sums of the row", sums(found, names)),
    h(
      "p",
      { class: "note" },
      left || found.length === 0
        ? `All its scores at once would give ${fixed(atOnce(shown), 3)}.`
        : "The row is done. All its scores at once give ",
      left || found.length === 0 ? null : value("at once", fixed(atOnce(shown), 3)),
    ),
  ];
}

/** A line for each tile of the watched row; the last holds what is kept now. */
function sums(found, names) {
  const heads = ["keys", "largest", "factor", "sum", "weighted sum", "context"];
  const line = ({ columns, largest, factor, sum, weighted }, n) => {
    const last = n === found.length - 1;
    const numbers = { largest, factor, sum, weighted, context: weighted / sum };
    const [from, to] = [columns[0], columns[columns.length - 1]].map((j) => isolated(names[j]));
    return [
      from === to ? from : `${from} … ${to}`,
      ...Object.entries(numbers).map(([name, number]) =>
        h("td", last ? { "data-value": name } : {}, inPlaces(number)),
      ),
    ];
  };
  return table(null, heads, found.map(line));
}

/** A row that has seen nothing yet has no largest score and no context. */
const inPlaces = (number) => (Number.isFinite(number) ? fixed(number, 3) : "none");
