// Attention weights as lines between two columns of tokens, with a map beside them.

import { walked } from "./arrow_keys.js";
import { button, menu } from "./controls.js";
import { heatMap } from "./heat_map.js";
import { sum } from "./mathematics.js";
import { COLOURS, draw, freshId, h } from "./page.js";
import { fixed, isolated, visible } from "./words.js";
const LEAST_LINE = 0.004; // a weight below it has no line while all lines are shown

/**
 * Attention weights as lines between queries and keys, and as a map beside them.
 *
 * `weights[layer][head][i][j]` is what query i gives to key j; a row may be a typed array. `tokens`
 * are the queries' names and `keys` the keys' (the same, where left out); `layers` and `heads` are
 * names for the menus; `start` is the layer, the head and the query to begin with, or null for all
 * queries; `hidden(i, j)` says which pairs are masked. Where `live` is false, nothing is announced.
 * Returns the element and `update(weights, tokens, keys)`: new weights, and new names where they
 * change.
 */
export function attentionMap({
  tokens,
  keys = tokens,
  weights,
  layers,
  heads,
  start: [layer, head, query] = [0, 0, null],
  hidden = () => false,
  live = true,
}) {
  /** @type {{ side: string, index: number } | null} */
  // What was clicked or reached by arrow keys: { side, index }.
  let kept = query === null ? null : { side: "queries", index: query };
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
          h("span", { class: "head queries asking" }, "queries"),
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
      const to = walked(event, chosen, options.length - 1);
      if (to === null) keep(null);
      else if (to !== undefined) go(to);
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
