import { button } from "./shared/controls.js";
import { draw, h, scroll } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

const [CELL, BETWEEN_HEADS] = [16, 12]; // as the picture was drawn
const MOST_TERMS = 6;
const HINT =
  "“Next” goes through the steps. Each cell tells you its number, and where it comes from.";

/** A computation that grows step by step; each cell says what it was computed from. */
export function render({ state, el }) {
  const { parts, names } = state;
  const view = el.closest(".aos-view");
  const figure = view.querySelector(".aos-diagram");
  const svg = figure.querySelector("svg");
  const steps = parts.flatMap(({ formula }, i) => (formula ? [i] : []));
  const appears = stepsOf(parts, steps);
  let [step, all] = [0, true];

  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const read = h("p", { class: "note", "data-value": "cell" });
  const count = h("output", { "data-value": "step" });
  const asked = askedCell({
    parts,
    reachable: (part) => all || appears[part] <= step,
    answer: (place, from) => {
      read.textContent = place ? sentence(parts, names, place, from) : "";
      return read.textContent;
    },
  });
  const show = () => {
    const now = parts[steps[step]];
    for (const group of svg.querySelectorAll("[data-part]")) {
      const [at, { name }] = [appears[group.dataset.part], parts[group.dataset.part]];
      const used = group.matches(".part") && now?.sources.some(([source]) => source === name);
      group.classList.toggle("later", !all && at > step);
      group.classList.toggle("past", !all && at < step && !used);
      group.classList.toggle("now", !all && (at === step || used));
    }
    count.textContent = all ? `all ${steps.length} steps` : `step ${step + 1} of ${steps.length}`;
    whole.setAttribute("aria-pressed", String(all));
    said.textContent = all ? HINT : now.said;
    asked.start(steps[step] ?? 0);
  };
  const go = (by) => {
    step = all ? (by > 0 ? 0 : steps.length - 1) : (step + by + steps.length) % steps.length;
    all = false;
    show();
    reveal(svg.querySelector(`.part[data-part="${steps[step]}"]`));
  };
  const whole = button({
    name: "all",
    label: "Show all",
    press: () => {
      all = !all;
      show();
    },
  });
  const controls = [
    button({ name: "back", label: "Back", press: () => go(-1) }),
    button({ name: "next", label: "Next", press: () => go(1) }),
    whole,
    count,
  ];
  const panel = h(
    "div",
    { class: "panel" },
    steps.length ? h("div", { class: "controls" }, controls) : null,
    said,
    read,
  );
  svg.setAttribute("role", "group");
  svg.append(asked.marks, asked.element);
  asked.listen(svg);
  figure.querySelector(".frame").replaceWith(scroll("The picture", svg));
  el.append(h("div", { class: "diagram-frame" }, figure), panel);
  const words = view.querySelector("details");
  words.classList.add("words");
  words.append(scroll("The tables", ...words.querySelectorAll("table")));
  keepOpaque(panel, view);
  if (steps.length) show();
}

/**
 * The one cell that a reader asks for, by mouse or by keyboard, and the cells it comes from.
 * `answer` puts a place (or null) into words.
 */
function askedCell({ parts, reachable, answer }) {
  let place = { part: 0, head: 0, row: 0, column: 0 };
  const marks = draw("g", { class: "marks", "aria-hidden": "true" });
  const handle = draw("rect", { width: CELL, height: CELL, fill: "transparent" });
  const point = (next) => {
    marks.replaceChildren();
    const from = next ? origins(parts, next) : [];
    const words = answer(next, from);
    if (!next) return;
    place = next;
    const box = boxOf(parts[place.part], { ...place, rows: 1, columns: 1 });
    handle.setAttribute("x", String(box.x));
    handle.setAttribute("y", String(box.y));
    const mark = (kind, where) => draw("rect", { class: `mark ${kind}`, rx: 2, ...where });
    marks.append(...from.map((cut) => mark("from", boxOf(cut.part, cut))), mark("", box));
    element.setAttribute("aria-valuenow", String(numberOf(parts, place) + 1));
    element.setAttribute("aria-valuetext", words);
  };
  const element = draw(
    "g",
    {
      class: "cursor",
      tabindex: 0,
      role: "slider",
      "data-control": "cell",
      "aria-label": "cell: arrow keys move inside a grid, page up and page down between grids",
      "aria-valuemin": "1",
      "aria-valuemax": String(numberOf(parts, { part: parts.length, head: 0, row: 0, column: 0 })),
      "aria-valuenow": "1",
      onkeydown: (event) => {
        const next = moved(parts, place, event.key, reachable);
        if (!next) return;
        event.preventDefault();
        point(next);
        reveal(handle);
      },
      onfocus: () => point(place),
      onblur: () => point(null),
    },
    handle,
  );
  const focused = () => document.activeElement === element;
  return {
    element,
    marks,
    start: (part) => {
      place = { part, head: 0, row: 0, column: 0 };
      point(null);
    },
    listen: (svg) => {
      let pressed = null;
      const ask = (event) => {
        const there = cellAt(svg, parts, event);
        if (there && reachable(there.part)) point(there);
        else if (!focused()) point(null);
      };
      // A finger that moves scrolls, and it leaves before its click comes.
      const hovers = (event) => event.pointerType !== "touch";
      svg.addEventListener("pointermove", (event) => hovers(event) && ask(event));
      svg.addEventListener("pointerleave", (event) => hovers(event) && !focused() && point(null));
      // A tap's click is moved to what can have the focus nearby; where it began is not.
      svg.addEventListener("pointerdown", (event) => {
        pressed = event;
      });
      svg.addEventListener("click", () => pressed && ask(pressed));
    },
  };
}

/** Bring a piece of the picture into sight, also out from behind the panel. */
function reveal(element) {
  const { top, bottom } = element.getBoundingClientRect();
  const panel = element.closest(".aos-view").querySelector(".panel").getBoundingClientRect();
  const seen = top >= 0 && bottom <= Math.min(panel.top, innerHeight);
  // In JupyterLab the panel doesn't follow the screen: then it would scroll away.
  if (!seen && panel.bottom < innerHeight - 2) return;
  element.scrollIntoView({ block: seen ? "nearest" : "center", inline: "nearest" });
}

/** The panel stays in sight over a tall picture, so it needs the page's own ground. */
function keepOpaque(panel, view) {
  const ground = () => {
    panel.style.background = groundBehind(view);
  };
  new MutationObserver(ground).observe(view, { attributeFilter: ["class"] });
  ground();
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

/** How many cells stand before this one. */
function numberOf(parts, { part, head, row, column }) {
  const before = parts.slice(0, part).map(sizeOf);
  const { cells } = parts[part] ?? parts[0];
  const within = (head * cells[0].length + row) * cells[0][0].length + column;
  return before.reduce((total, size) => total + size, within);
}

/**
 * Where some cells of one head stand in the picture.
 * @param {any} part
 * @param {any} cut
 */
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
function moved(parts, { part, head, row, column }, key, reachable) {
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
      const by = key === "PageUp" ? -1 : 1;
      let next = part + by;
      while (parts[next] && !reachable(next)) next += by;
      return { part: parts[next] ? next : part, head: 0, row: 0, column: 0 };
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

const shown = (number, decimals = 2) =>
  number === null ? "−∞" : fixed(number, decimals).replace("-", "−");
const bracketed = (number) => (number < 0 ? `(${shown(number)})` : shown(number));

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
  const number = shown(one.cells[head][row][column], one.decimals);
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
  return `${of} ${shown(part.cells[head][row][column], part.decimals)}`;
}

/** The products that add up to a cell, where they are few and all drawn. */
function products(one, from) {
  const [left, right] = from;
  if (!right || !left.part.whole || !right.part.whole || left.columns > MOST_TERMS) return "";
  const other = right.part.cells[right.head];
  return left.part.cells[left.head][left.row]
    .map((number, i) => {
      const factor = one.product === "@ᵀ" ? other[right.row][i] : other[i][right.column];
      return `${bracketed(number)} × ${bracketed(factor)}`;
    })
    .join(" + ");
}
