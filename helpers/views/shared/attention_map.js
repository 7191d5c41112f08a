import {
  button,
  COLOURS,
  draw,
  fixed,
  freshId,
  h,
  isolated,
  menu,
  mixed,
  scroll,
  sum,
  visible,
} from "./lib.js";

const MAP_STYLE = `
.aos-view .tokens { position: relative; user-select: none; }
.aos-view .tokens [role=option] {
  display: flex; gap: 0.4rem; align-items: center; padding: 0 0.3rem; border-radius: 4px;
  cursor: pointer; overflow: hidden;
}
.aos-view .tokens .name {
  white-space: pre; overflow: hidden; text-overflow: ellipsis; unicode-bidi: isolate;
  max-width: min(7rem, 23vw); flex: 1;
}
.aos-view .tokens .number { width: 2.3rem; font-variant-numeric: tabular-nums; flex: none; }
.aos-view .tokens.asking .name { text-align: right; }
.aos-view .tokens.asking [role=option] { flex-direction: row-reverse; text-align: right; }
.aos-view .tokens .chosen {
  background: var(--faint); box-shadow: inset 0 0 0 2px currentColor; font-weight: 600;
}
.aos-view .tokens:focus-visible { outline-width: 1px; outline-offset: 0; }
.aos-view .between {
  display: grid; grid-template-columns: auto minmax(3.5rem, 1fr) auto; width: 24rem;
  max-width: 100%;
}
.aos-view .between .head { font-weight: 600; padding: 0 0.3rem; }
.aos-view .map table { font-size: 0.85rem; }
.aos-view .map th, .aos-view .map td { padding: 0.15rem 0.3rem; }
.aos-view td.chosen { box-shadow: inset 0 2px currentColor, inset 0 -2px currentColor; }
.aos-view td.chosen.column { box-shadow: inset 2px 0 currentColor, inset -2px 0 currentColor; }
.aos-view .said { min-height: 3em; }
.aos-view .pixels {
  position: relative; width: 22rem; max-width: 100%; border: 1px solid var(--line);
  overflow: hidden;
}
.aos-view .pixels canvas { display: block; width: 100%; image-rendering: pixelated; }
.aos-view .pixels div { position: absolute; outline: 2px solid currentColor; pointer-events: none; }
@media (max-width: 599px) {
  .aos-view .map table { font-size: 0.78rem; }
  .aos-view .map th, .aos-view .map td { padding: 0.1rem 0.15rem; }
}
@media (min-width: 600px) { .aos-view .said { min-height: 1.5em; } }
`;
const MOST_NUMBERS = 16; // up to that many tokens, a map has a number in each cell
const LEAST_LINE = 0.004; // a weight below it has no line while all lines are shown

/**
 * Attention weights as lines between queries and keys, and as a map beside them.
 *
 * `weights[layer][head][i][j]` is what query i gives to key j; a row may be a typed array. `tokens`
 * are the queries' names and `keys` the keys' (the same, where left out); `layers` and `heads` are
 * names for the menus; `hidden(i, j)` says which pairs are masked. Where `live` is false, nothing
 * is announced. Returns the element and `update(weights, tokens, keys)`: new weights, and new names
 * where they change.
 */
export function attentionMap({
  tokens,
  keys = tokens,
  weights,
  layers,
  heads,
  hidden = () => false,
  live = true,
}) {
  let [layer, head] = [0, 0];
  /** @type {{ side: string, index: number } | null} */
  let kept = null; // what was clicked or reached by arrow keys: { side, index }
  /** @type {{ side: string, index: number } | null} */
  let pointed = null; // what the mouse points at, for as long as it does
  const picker = h("div", { class: "controls" });
  const said = h("p", {
    class: "note said",
    "data-value": "sentence",
    "aria-live": live ? "polite" : undefined,
  });
  const all = draw("g");
  const few = draw("g");
  const lines = draw("svg", { preserveAspectRatio: "none", "aria-hidden": "true" }, all, few);
  /** @type {(side: string) => (index: number | null) => void} */
  const point = (side) => (index) => {
    pointed = index === null ? null : { side, index };
    paint();
  };
  /** @type {(side: string) => (index: number | null) => void} */
  const keep = (side) => (index) => {
    kept = index === null ? null : { side, index };
    paint();
  };
  const columns = {
    queries: tokenColumn("queries", { point: point("queries"), keep: keep("queries") }),
    keys: tokenColumn("keys", { point: point("keys"), keep: keep("keys") }),
  };
  const map = heatMap({
    caption: "The same weights as a map: a row for each query",
    point: point("queries"),
  });

  /** Menus for layers and heads, and the way back to all lines. */
  const pick = () => {
    const choice = (name, label, names, place, change) =>
      names.length < 2
        ? ""
        : menu({
            name,
            label,
            options: names,
            value: names[place],
            change: (chosen) => {
              change(names.indexOf(chosen));
              show();
            },
          });
    const numbered = (list, names) => Array.from(list, (_, i) => String(names?.[i] ?? i));
    picker.replaceChildren(
      ...[
        choice("layer", "Layer", numbered(weights, layers), layer, (i) => {
          layer = i;
        }),
        choice("head", "Head", numbered(weights[layer], heads), head, (i) => {
          head = i;
        }),
        button({ name: "show all", label: "Show all lines", press: () => keep("queries")(null) }),
      ].filter(Boolean),
    );
  };

  /** Draw everything anew: other weights or other tokens. */
  const show = () => {
    const rows = weights[layer][head];
    const height = Math.max(tokens.length, keys.length) * rowHeight();
    columns.queries.fill(tokens, rowHeight(), height);
    columns.keys.fill(keys, rowHeight(), height);
    lines.setAttribute("viewBox", `0 0 100 ${height}`);
    lines.setAttribute("style", `width: 100%; height: ${height}px`);
    all.replaceChildren(
      ...tokens.flatMap((_, i) => keys.map((_, j) => line(i, j, rows[i][j]))).filter(Boolean),
    );
    map.update(rows, tokens, keys, hidden);
    paint();
  };
  const rowHeight = () => tokenHeight(Math.max(tokens.length, keys.length));
  const line = (i, j, weight, least = LEAST_LINE) =>
    weight < least
      ? null
      : draw("line", {
          x1: 0,
          x2: 100,
          y1: columns.queries.middle(i),
          y2: columns.keys.middle(j),
          "vector-effect": "non-scaling-stroke",
          stroke: COLOURS.weights,
          "stroke-width": 0.6 + 7 * Math.min(1, weight),
          "stroke-opacity": 0.2 + 0.7 * Math.min(1, weight),
        });

  /** Show the chosen token's lines and numbers, or all lines. */
  const paint = () => {
    const rows = weights[layer][head];
    const { side, index } = pointed ?? kept ?? { side: null, index: -1 };
    const asked = side === "queries" ? Array.from(rows[index]) : null;
    const given = side === "keys" ? tokens.map((_, i) => rows[i][index]) : null;
    all.setAttribute("display", side ? "none" : "inline");
    few.replaceChildren(
      ...(asked ?? given ?? [])
        .map((weight, other) =>
          asked ? line(index, other, weight, 1e-9) : line(other, index, weight, 1e-9),
        )
        .filter(Boolean),
    );
    columns.queries.mark(side === "queries" ? index : null, given, kept?.side === "queries");
    columns.keys.mark(side === "keys" ? index : null, asked, kept?.side === "keys");
    map.mark(side, index);
    said.textContent = asked
      ? askedSentence(tokens, keys, index, asked)
      : given
        ? givenSentence(tokens, keys, index, given)
        : allSentence(tokens, keys, rows);
  };

  const update = (newWeights, newTokens, newKeys) => {
    weights = newWeights;
    keys = (newKeys ?? newTokens ?? keys).map(visible);
    tokens = (newTokens ?? tokens).map(visible);
    layer = Math.min(layer, weights.length - 1);
    head = Math.min(head, weights[layer].length - 1);
    pointed = null;
    if (kept && kept.index >= (kept.side === "keys" ? keys : tokens).length) kept = null;
    pick();
    show();
  };
  update(weights, tokens, keys);
  return {
    element: h(
      "div",
      {},
      h(
        "p",
        { class: "note" },
        "Point at a token, tap it, or walk a column with the arrow keys: only its lines stay.",
      ),
      picker,
      said,
      h(
        "div",
        { class: "panels" },
        h(
          "div",
          { class: "between" },
          h("span", { class: "head queries", style: "text-align: right" }, "queries"),
          h("span"),
          h("span", { class: "head keys" }, "keys"),
          columns.queries.element,
          lines,
          columns.keys.element,
        ),
        map.element,
      ),
    ),
    update,
  };
}

/**
 * Weights as a map, a row for each query: with a number in each cell, or as points where there are
 * many. Returns the element, `update(rows, tokens, keys, hidden)` and `mark(side, index)`, which
 * frames a row or a column. `point(i)` hears which row of points the mouse is on; null, when it
 * leaves.
 * @typedef {(i: number, j: number) => boolean} OfPair
 * @param {{ caption: string, point?: (i: number | null) => void }} options
 */
export function heatMap({ caption, point = () => {} }) {
  const frame = scroll(caption);
  const title = h("p", { class: "note" });
  const canvas = h("canvas", { role: "img", onpointerleave: () => point(null) });
  const mark = h("div");
  const pixels = h("div", { class: "pixels" }, canvas, mark);
  const body = h("div");
  const element = h("div", { class: "map" }, h("style", {}, MAP_STYLE), body);
  let cells = [];
  let marked = [];
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / box.height) * canvas.height);
    if (event.pointerType === "mouse") point(Math.max(0, Math.min(canvas.height - 1, row)));
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
      h(
        "table",
        {},
        h("caption", {}, caption),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td", {}),
            keys.map((name) => h("th", { scope: "col", class: "keys" }, name)),
          ),
        ),
        h(
          "tbody",
          {},
          cells.map((row, i) =>
            h("tr", {}, h("th", { scope: "row", class: "queries" }, tokens[i]), row),
          ),
        ),
      ),
    );
    body.replaceChildren(frame);
  };
  const asPoints = (rows, tokens, keys, hidden) => {
    cells = [];
    [canvas.width, canvas.height] = [keys.length, tokens.length];
    const top = Math.max(1e-9, ...tokens.map((_, i) => Math.max(...rows[i])));
    const picture = new ImageData(keys.length, tokens.length);
    const [red, green, blue] = [1, 3, 5].map((i) => parseInt(COLOURS.weights.slice(i, i + 2), 16));
    for (const i of tokens.keys())
      for (const j of keys.keys()) {
        const colour = hidden(i, j)
          ? [128, 128, 128, 50]
          : [red, green, blue, Math.round((255 * rows[i][j]) / top)];
        picture.data.set(colour, 4 * (i * keys.length + j));
      }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.putImageData(picture, 0, 0);
    canvas.setAttribute(
      "aria-label",
      `${tokens.length} rows of ${keys.length} points, the strongest for ${fixed(top)}`,
    );
    title.textContent = `${caption}. The strongest point is ${fixed(top)}.`;
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
      const [width, height] = [100 / canvas.width, 100 / canvas.height];
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

/** A column of tokens, walked with the arrow keys; `mark` shows who is chosen, and numbers. */
function tokenColumn(side, { point, keep }) {
  let options = [];
  let top = 0;
  let row = 0;
  let chosen = null;
  let held = false; // a mouse button or finger is down: the click says which token
  const go = (index) => {
    keep(index);
    options[index].scrollIntoView({ block: "nearest" });
  };
  const element = h("div", {
    class: `tokens ${side === "queries" ? "asking" : ""}`,
    role: "listbox",
    tabindex: 0,
    "aria-label": side,
    "data-control": side,
    onpointerdown: () => {
      held = true;
    },
    onpointerleave: (event) => {
      held = false;
      if (event.pointerType === "mouse") point(null);
    },
    onfocus: () => {
      if (!held && chosen === null) keep(0);
    },
    onkeydown: (event) => {
      const now = chosen ?? -1;
      const last = options.length - 1;
      const to = {
        ArrowDown: now + 1,
        ArrowRight: now + 1,
        ArrowUp: now - 1,
        ArrowLeft: now - 1,
        Home: 0,
        End: last,
      }[event.key];
      if (event.key === "Escape") keep(null);
      if (to === undefined) return;
      event.preventDefault();
      go(Math.max(0, Math.min(last, to)));
    },
  });
  const option = (name, index) =>
    h(
      "div",
      {
        role: "option",
        id: freshId("token"),
        "aria-selected": "false",
        style: `height: ${row}px`,
        onpointerenter: (event) => {
          if (event.pointerType === "mouse") point(index);
        },
        onclick: () => {
          held = false;
          point(null);
          keep(options[index].getAttribute("aria-selected") === "true" ? null : index);
        },
      },
      h("span", { class: "name", title: name }, name),
      h("span", { class: "number", "data-value": `${side} ${index}` }),
    );
  return {
    element,
    middle: (index) => top + (index + 0.5) * row,
    fill(names, height, total) {
      row = height;
      top = (total - names.length * row) / 2;
      options = names.map(option);
      element.setAttribute("style", `padding-top: ${top}px; font-size: ${row < 22 ? 0.8 : 1}em`);
      element.replaceChildren(...options);
    },
    mark(index, numbers, fixedHere) {
      chosen = fixedHere ? index : null;
      options.forEach((one, i) => {
        one.classList.toggle("chosen", i === index);
        one.setAttribute("aria-selected", String(fixedHere && i === index));
        one.lastChild.textContent = numbers ? fixed(numbers[i]) : "";
      });
      if (index === null) element.removeAttribute("aria-activedescendant");
      else element.setAttribute("aria-activedescendant", options[index].id);
    },
  };
}

const tokenHeight = (count) => (count <= 12 ? 30 : count <= 24 ? 24 : 18);

/** A token's name in a sentence; with its place, where the name stands more than once. */
function tokenIn(names, index) {
  const several = names.indexOf(names[index]) !== names.lastIndexOf(names[index]);
  return isolated(names[index]) + (several ? ` at ${index}` : "");
}

function askedSentence(tokens, keys, index, row) {
  const best = row.indexOf(Math.max(...row));
  return (
    `${tokenIn(tokens, index)} asks. It gives ${tokenIn(keys, best)} the most, ` +
    `${fixed(row[best])}; its weights sum to ${fixed(sum(row))}.`
  );
}

function givenSentence(tokens, keys, index, column) {
  const best = column.indexOf(Math.max(...column));
  return (
    `${tokenIn(keys, index)} is asked. ${tokenIn(tokens, best)} gives it the most, ` +
    `${fixed(column[best])}; in all it gets ${fixed(sum(column))}.`
  );
}

function allSentence(tokens, keys, rows) {
  const tops = tokens.map((_, i) => Math.max(...rows[i]));
  const i = tops.indexOf(Math.max(...tops));
  const key = tokenIn(keys, rows[i].indexOf(tops[i]));
  return `The thickest line: ${tokenIn(tokens, i)} gives ${key} the weight ${fixed(tops[i])}.`;
}
