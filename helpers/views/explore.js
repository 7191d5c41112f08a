import { menu, slider, tick } from "./shared/controls.js";
import { follow } from "./shared/kernel_box.js";
import { COLOURS, draw, h, scroll, table } from "./shared/page.js";
import { isolated, visible } from "./shared/words.js";

const CHART = { width: 340, height: 200, left: 52, right: 10, top: 12, foot: 24 };
const LINES = [
  [COLOURS.queries, ""],
  [COLOURS.keys, "6 3"],
  [COLOURS.values, "8 3 2 3"],
  [COLOURS.weights, "2 3"],
];

/** What Python computed for the values of some choices: here for all of them, or in a kernel. */
export function render({ state, el }) {
  const { choices, frames, box } = state;
  const picture = framePicture(choices);
  const controls = gridControls(choices, (values, place) => picture.show(values, frames[place]));
  el.append(controls, ...picture.elements);
  if (box)
    follow(box, ({ values, frame, error }) => {
      controls.remove();
      picture.show(values, frame, error);
      picture.keepHeight();
    });
}

/** The parts of a frame, a sentence about it, and what went wrong behind it. */
function framePicture(choices) {
  const parts = h("div", { class: "panels" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const wrong = h("p", { class: "note text", role: "alert", "data-value": "wrong" });
  const show = (values, frame, error = "") => {
    parts.replaceChildren(...frame.map((part, i) => PARTS[part.kind](part, i)));
    const chosen = choices.map(({ label }, i) => named(label, values[i])).join(" and ");
    const found = frame
      .map(told)
      .filter((text) => text !== "")
      .join("; ");
    sentence.textContent = found ? `With ${chosen}: ${found}.` : `Shown above: ${chosen}.`;
    wrong.textContent = error ? `${error}\nThe result above is still that for ${chosen}.` : "";
  };
  /** What lies below doesn't jump when a result is shorter than the one before. */
  const keepHeight = () => {
    const height = Math.max(parts.offsetHeight, parseFloat(parts.style.minHeight) || 0);
    parts.style.minHeight = `${height}px`;
  };
  return { elements: [parts, sentence, wrong], show, keepHeight };
}

/** A control for each choice; `change` hears their values and the place of that combination. */
function gridControls(choices, change) {
  const places = choices.map(() => 0);
  const tell = () => {
    const values = choices.map((choice, i) => choice.values[places[i]]);
    // The last choice runs fastest.
    const count = (total, place, i) => total * choices[i].values.length + place;
    change(values, places.reduce(count, 0));
  };
  const controls = choices.map((choice, i) =>
    gridControl(choice, (value) => {
      places[i] = choice.values.indexOf(value);
      tell();
    }),
  );
  tell();
  return h("div", { class: "controls" }, controls);
}

/** None where there is nothing to choose; else a box to tick, a slider or a menu. */
function gridControl({ name, label, values }, change) {
  if (values.length < 2) return null;
  const [value] = values;
  if (values.every((one) => YES_NO.includes(one)))
    return tick({
      name,
      label,
      value: value === "True",
      change: (on) => change(on ? "True" : "False"),
    });
  if (values.every((one) => one.trim() !== "" && Number.isFinite(Number(one))))
    return slider({ name, label, choices: values, value, change });
  return menu({ name, label, options: values, value, change });
}

const PARTS = {
  text: (part, i) => h("p", { class: "note text", "data-value": `part ${i}` }, part.text),
  number: (part, i) => h("p", { class: "note result", "data-value": `part ${i}` }, part.text),
  table: shownTable,
  bars: shownBars,
  line: shownLine,
};

const YES_NO = ["False", "True"];

/** A choice in words. */
function named(label, value) {
  if (YES_NO.includes(value)) return value === "True" ? isolated(label) : `not ${isolated(label)}`;
  return `${isolated(label)} ${isolated(visible(value))}`;
}

/** A part in a few words; texts and tables speak for themselves. */
function told(part) {
  if (part.kind === "number") return part.text;
  if (part.kind === "line")
    return part.curves
      .map(({ name, ends }) => `${isolated(name)} from ${ends[0]} to ${ends[1]}`)
      .join(", ");
  if (part.kind !== "bars") return "";
  const best = part.values.indexOf(Math.max(...part.values.filter((value) => value !== null)));
  return best < 0 ? "" : `${isolated(part.names[best])} is largest, ${part.texts[best]}`;
}

function shownTable({ caption, cells, columns, rows }, i) {
  const cell = (r) => (text, c) => h("td", { "data-value": `cell ${i} ${r} ${c}` }, text);
  return scroll(
    caption,
    table(
      caption,
      columns && (rows ? [null, ...columns] : columns),
      cells.map((row, r) => [...(rows ? [rows[r]] : []), ...row.map(cell(r))]),
    ),
  );
}

function shownBars({ names, texts, values, reach: [low, high] }, i) {
  const percent = (number) => `${(100 * number) / (high - low)}%`;
  const bar = (value) =>
    h("div", {
      style:
        `margin-left: ${percent(Math.min(value, 0) - low)}; ` +
        `width: ${percent(Math.abs(value))}`,
    });
  const row = (name, b) => [
    h("th", { scope: "row", class: "sentence" }, name),
    h("td", { "data-value": `bar ${i} ${b}` }, texts[b]),
    h("td", { class: "measure", "aria-hidden": "true" }, bar(values[b] ?? 0)),
  ];
  return scroll("Each value as a bar", table(null, null, names.map(row)));
}

function shownLine(part, i) {
  const { width, height, left, right, top, foot } = CHART;
  const text = (x, y, anchor, words) => draw("text", { x, y, "text-anchor": anchor }, words);
  const curve = ({ y }, c) =>
    draw("path", {
      d: outline(part, y),
      fill: "none",
      "data-value": `curve ${i} ${c}`,
      stroke: LINES[c][0],
      "stroke-width": 2,
      "stroke-dasharray": LINES[c][1],
      "stroke-linejoin": "round",
    });
  return h(
    "div",
    {},
    h("div", {}, part.y_axis),
    draw(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        width,
        role: "img",
        "aria-label": `${part.y_axis} over ${part.x_axis}`,
      },
      draw("path", {
        d: `M${left} ${top}V${height - foot}H${width - right}`,
        fill: "none",
        stroke: "currentColor",
      }),
      text(left - 5, top + 4, "end", part.y_ends[1]),
      text(left - 5, height - foot, "end", part.y_ends[0]),
      text(left, height - 8, "start", part.x_ends[0]),
      text(width - right, height - 8, "end", part.x_ends[1]),
      text((left + width) / 2, height - 8, "middle", part.x_axis),
      part.curves.map(curve),
    ),
    endsTable(part, i),
  );
}

/** The way of the pen along a curve; it is lifted where a number is missing. */
function outline({ places, reach: [low, high] }, y) {
  const { width, height, left, right, top, foot } = CHART;
  let pen = "M";
  return y
    .map((number, i) => {
      const step =
        number === null
          ? ""
          : pen +
            (left + ((width - left - right) * places[i]) / 10000).toFixed(1) +
            " " +
            (top + ((height - top - foot) * (high - number)) / (high - low)).toFixed(1);
      pen = number === null ? "M" : "L";
      return step;
    })
    .join("");
}

/** What each curve begins and ends with. */
function endsTable({ curves, x_axis: axis, from_to: ends }, i) {
  const sample = (c) =>
    draw(
      "svg",
      {
        width: 30,
        height: 8,
        "aria-hidden": "true",
        class: "dash",
      },
      draw("path", {
        d: "M0 4H30",
        stroke: LINES[c][0],
        "stroke-width": 2,
        "stroke-dasharray": LINES[c][1],
      }),
    );
  const row = ({ name, ends }, c) => [
    h("th", { scope: "row", class: "sentence" }, sample(c), ` ${name}`),
    h("td", { "data-value": `first ${i} ${c}` }, ends[0]),
    h("td", { "data-value": `last ${i} ${c}` }, ends[1]),
  ];
  const heads = ends.map((end) => `${isolated(axis)} = ${end}`);
  return scroll(
    `The ends of the curves over ${isolated(axis)}`,
    table(null, [null, ...heads], curves.map(row)),
  );
}
