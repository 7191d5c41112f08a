import { button } from "./shared/controls.js";
import { draw, h, scroll } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

const [CELL, BETWEEN_HEADS] = [16, 12]; // as the picture was drawn
const MOST_TERMS = 6;
const DIAGRAM_STYLE = `
.aos-view .later { visibility: hidden; }
.aos-view .past :is(.cells, .line, .tip, .pill) { opacity: 0.4; }
.aos-view .mark { fill: none; stroke: var(--queries); stroke-width: 2; pointer-events: none; }
.aos-view .mark.from { stroke-dasharray: 4 2; }
.aos-view .cursor:focus-visible { outline: none; }
.aos-view .panel {
  position: sticky; bottom: 0; border-top: 1px solid var(--line); padding: 0.25rem 0 0.4rem;
}
.aos-view .panel .controls { gap: 0.5rem; align-items: center; }
.aos-view .panel .note { min-height: 1.45em; }
@media print {
  .aos-view .later { visibility: visible; }
  .aos-view .past :is(.cells, .line, .tip, .pill) { opacity: 1; }
  .aos-view .panel, .aos-view .marks { display: none; }
  .aos-view .diagram-frame .scroll { overflow: visible; mask-image: none; }
}
`;

/** A computation that grows step by step; each cell says what it was computed from. */
export function render({ state, el }) {
  const { parts, names } = state;
  const view = el.closest(".aos-view");
  const figure = view.querySelector(".aos-diagram");
  const svg = figure.querySelector("svg");
  const steps = parts.flatMap(({ formula }, i) => (formula ? [i] : []));
  const stepOf = stepsOf(parts, steps);
  let step = 0;
  let all = true;
  let cursor = { part: steps[0] ?? 0, head: 0, row: 0, column: 0 };

  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const read = h("p", { class: "note", "data-value": "cell" });
  const count = h("output", { "data-value": "step" });
  const marks = draw("g", { class: "marks", "aria-hidden": "true" });
  const handle = draw("rect", { width: CELL, height: CELL, fill: "transparent" });
  const cells = draw(
    "g",
    {
      class: "cursor",
      tabindex: 0,
      role: "slider",
      "data-control": "cell",
      "aria-label": "cell: arrow keys move inside a grid, page up and page down between grids",
      onkeydown: (event) => {
        const next = moved(parts, cursor, event.key);
        if (!next) return;
        event.preventDefault();
        if (!all && stepOf[next.part] > step) return;
        point(next);
      },
      onfocus: () => point(cursor),
      onblur: () => point(null),
    },
    handle,
  );

  const point = (place) => {
    marks.replaceChildren();
    read.textContent = "";
    if (!place) return;
    cursor = place;
    const from = origins(parts, place);
    const box = boxOf(parts[place.part], { ...place, rows: 1, columns: 1 });
    for (const [name, value] of [["x", box.x], ["y", box.y]]) handle.setAttribute(name, value);
    marks.append(
      ...from.map(({ part, ...cut }) => draw("rect", { class: "mark from", rx: 2, ...boxOf(part, cut) })),
      draw("rect", { class: "mark", rx: 2, ...box }),
    );
    const words = sentence(parts, names, place, from);
    read.textContent = words;
    cells.setAttribute("aria-valuenow", String(numberOf(parts, place) + 1));
    cells.setAttribute("aria-valuetext", words);
  };
  const show = () => {
    for (const group of svg.querySelectorAll("[data-part]")) {
      const when = stepOf[group.dataset.part];
      const used = parts[steps[step]]?.sources.some(([name]) => parts[group.dataset.part].name === name);
      const arrow = group.classList.contains("arrow");
      group.classList.toggle("later", !all && when > step);
      group.classList.toggle("past", !all && when < step && (arrow || !used));
    }
    count.textContent = all ? `all ${steps.length} steps` : `step ${step + 1} of ${steps.length}`;
    whole.setAttribute("aria-pressed", String(all));
    said.textContent = all
      ? "“Next” goes through the steps. Each cell tells you its number, and what it comes from."
      : parts[steps[step]].said;
    cursor = { part: steps[step] ?? 0, head: 0, row: 0, column: 0 };
    point(null);
  };
  const go = (by) => {
    step = all ? (by > 0 ? 0 : steps.length - 1) : (step + by + steps.length) % steps.length;
    all = false;
    show();
  };
  const whole = button({
    name: "all",
    label: "Show all",
    press: () => {
      all = !all;
      show();
    },
  });

  svg.setAttribute("role", "group");
  cells.setAttribute("aria-valuemin", "1");
  cells.setAttribute("aria-valuemax", String(parts.map(sizeOf).reduce((a, b) => a + b, 0)));
  cells.setAttribute("aria-valuenow", "1");
  svg.append(marks, cells);
  svg.addEventListener("pointermove", (event) => {
    const place = cellAt(svg, parts, event);
    if (place && (all || stepOf[place.part] <= step)) point(place);
    else if (document.activeElement !== cells) point(null);
  });
  svg.addEventListener("pointerleave", () => document.activeElement === cells || point(null));
  const frame = figure.querySelector(".frame");
  frame.replaceWith(scroll("The picture", svg));
  const panel = h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "controls" },
      button({ name: "back", label: "Back", press: () => go(-1) }),
      button({ name: "next", label: "Next", press: () => go(1) }),
      whole,
      count,
    ),
    said,
    read,
  );
  el.append(h("style", {}, DIAGRAM_STYLE), h("div", { class: "diagram-frame" }, figure), panel);
  // The panel stays in sight over a tall picture, so it needs the page's own ground.
  const ground = () => panel.style.setProperty("background", groundBehind(view));
  new MutationObserver(ground).observe(view, { attributeFilter: ["class"] });
  ground();
  show();
}

/** The step in which each part appears: its own, or the first that needs it. */
function stepsOf(parts, steps) {
  return parts.map(({ name, formula }, i) => {
    if (formula) return steps.indexOf(i);
    const first = steps.findIndex((one) => parts[one].sources.some(([source]) => source === name));
    return Math.max(0, first);
  });
}

/** The colour that is seen behind an element. */
function groundBehind(element) {
  for (let one = element; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor;
    if (!/^(transparent|rgba\(.*, 0\))$/.test(colour)) return colour;
  }
  return "Canvas";
}

// --- cells ------------------------------------------------------------------------------

const sizeOf = ({ cells }) => cells.length * cells[0].length * cells[0][0].length;

function numberOf(parts, { part, head, row, column }) {
  const before = parts.slice(0, part).map(sizeOf);
  const [rows, columns] = [parts[part].cells[0].length, parts[part].cells[0][0].length];
  return before.reduce((a, b) => a + b, 0) + (head * rows + row) * columns + column;
}

/** Where some cells of one head stand in the picture. */
function boxOf({ x, y, cells }, { head, row, column, rows, columns }) {
  const left = x + head * (cells[0][0].length * CELL + BETWEEN_HEADS);
  return {
    x: left + column * CELL,
    y: y + row * CELL,
    width: columns * CELL,
    height: rows * CELL,
  };
}

function cellAt(svg, parts, event) {
  const there = new DOMPoint(event.clientX, event.clientY).matrixTransform(
    svg.getScreenCTM().inverse(),
  );
  for (const [part, one] of parts.entries())
    for (const head of one.cells.keys()) {
      const [rows, columns] = [one.cells[0].length, one.cells[0][0].length];
      const box = boxOf(one, { head, row: 0, column: 0, rows, columns });
      const [column, row] = [there.x - box.x, there.y - box.y].map((far) => Math.floor(far / CELL));
      if (row >= 0 && row < rows && column >= 0 && column < columns)
        return { part, head, row, column };
    }
  return null;
}

/** The place that a key leads to, or null for another key. */
function moved(parts, { part, head, row, column }, key) {
  const { cells } = parts[part];
  const [rows, columns] = [cells[0].length, cells[0][0].length];
  const within = (number, count) => Math.max(0, Math.min(count - 1, number));
  const sideways = within(
    head * columns + column + { ArrowLeft: -1, ArrowRight: 1 }[key],
    cells.length * columns,
  );
  switch (key) {
    case "ArrowLeft":
    case "ArrowRight":
      return { part, row, head: Math.floor(sideways / columns), column: sideways % columns };
    case "ArrowUp":
    case "ArrowDown":
      return { part, head, column, row: within(row + (key === "ArrowUp" ? -1 : 1), rows) };
    case "PageUp":
    case "PageDown": {
      const next = within(part + (key === "PageUp" ? -1 : 1), parts.length);
      return { part: next, head: 0, row: 0, column: 0 };
    }
    default:
      return null;
  }
}

/** The cells that a cell was computed from, a box of them for each source. */
function origins(parts, { part, head, row, column }) {
  const { sources, cells } = parts[part];
  const width = cells[0][0].length;
  return sources.flatMap(([name, how]) => {
    const source = /** @type {any} */ (parts.find((one) => one.name === name));
    const own = Math.min(head, source.cells.length - 1);
    const [rows, columns] = [source.cells[0].length, source.cells[0][0].length];
    const line = (at) => ({ head: own, row: at, column: 0, rows: 1, columns });
    const cell = (of, j) => ({ head: of, row, column: j, rows: 1, columns: 1 });
    const cut = {
      row: () => line(row),
      across: () => line(column),
      found: () => line(parts.find((one) => one.name === sources[0][0]).cells[0][row][0]),
      column: () => ({ head: own, row: 0, column, rows, columns: 1 }),
      same: () => cell(own, column),
      split: () => cell(0, head * width + column),
      merge: () => cell(Math.floor(column / columns), column % columns),
      all: () => ({ head: own, row: 0, column: 0, rows, columns }),
    }[how]();
    const drawn =
      cut.head < source.cells.length &&
      cut.row + cut.rows <= rows &&
      cut.column + cut.columns <= columns;
    return drawn ? [{ part: source, how, ...cut }] : [];
  });
}

// --- words --------------------------------------------------------------------------------

const shown = (number) => (number === null ? "−∞" : fixed(number).replace("-", "−"));

function placeName({ letters }, names, axis, index) {
  const known = names[letters.at(axis)];
  return known && (axis === -1 || letters.length > 1) ? isolated(known[index]) : String(index);
}

/** A cell in words: its number, and the rows and columns that it comes from. */
function sentence(parts, names, { part, head, row, column }, from) {
  const one = parts[part];
  const heads = one.letters.length === 3 ? `head ${head}, ` : "";
  const place =
    one.letters.length === 1
      ? placeName(one, names, -1, row)
      : `${heads}${placeName(one, names, -2, row)}, ${placeName(one, names, -1, column)}`;
  const number = shown(one.cells[head][row][column]);
  const start = `${one.name}[${place}] = `;
  if (!from.length) return start + number;
  const pieces = from.map((cut) => originName(names, cut));
  const sum = one.product ? products(one, from) : "";
  const joined = pieces.join(one.product ? " · " : " and ");
  return sum ? `${start}${joined} = ${sum} = ${number}` : `${start}${number}, from ${joined}`;
}

function originName(names, { part, how, head, row, column }) {
  const of = part.letters.length === 3 ? `${part.name} (head ${head})` : part.name;
  const at = part.letters.length === 1 ? -1 : -2;
  if (how === "all") return of;
  if (how === "column") return `column ${placeName(part, names, -1, column)} of ${of}`;
  if (["row", "across", "found"].includes(how))
    return `row ${placeName(part, names, at, row)} of ${of}`;
  return `${of} ${shown(part.cells[head][row][column])}`;
}

/** The products that add up to a cell, where they are few and all drawn. */
function products(one, from) {
  const [left, right] = from;
  if (!right || !left.part.whole || !right.part.whole || left.columns > MOST_TERMS) return "";
  const other = right.part.cells[right.head];
  return left.part.cells[left.head][left.row]
    .map((number, i) => {
      const factor = one.product === "@ᵀ" ? other[right.row][i] : other[i][right.column];
      return `${shown(number)} × ${shown(factor)}`;
    })
    .join(" + ");
}
