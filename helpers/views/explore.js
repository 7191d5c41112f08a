import { COLOURS, draw, h, isolated, menu, scroll, slider, tick } from "./shared/lib.js";

const CHART = { width: 340, height: 200, left: 52, right: 10, top: 12, foot: 24 };
// In JupyterLab the kernel's box is the output before this view: the view waits while the box
// lives, and takes its place, and that of the message about it, once it is gone.
const BOX_STYLE = `
`;
const LINES = [
  [COLOURS.queries, ""],
  [COLOURS.keys, "6 3"],
  [COLOURS.values, "8 3 2 3"],
  [COLOURS.weights, "2 3"],
];

/** A control for each choice, and the frame that Python computed for their values. */
export function render({ state, el }) {
  const { choices, frames } = state;
  const places = choices.map(() => 0);
  const parts = h("div", { class: "panels" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const show = () => {
    // The last choice runs fastest.
    const frame =
      frames[places.reduce((total, place, i) => total * choices[i].values.length + place, 0)];
    parts.replaceChildren(...frame.map((part, i) => PARTS[part.kind](part, i)));
    const chosen = choices
      .map(({ label, values }, i) => named(label, values[places[i]]))
      .join(" and ");
    const found = frame
      .map(told)
      .filter((text) => text !== "")
      .join("; ");
    sentence.textContent = found ? `With ${chosen}: ${found}.` : `Shown above: ${chosen}.`;
  };
  const control = ({ name, label, values }, i) => {
    const change = (value) => {
      places[i] = values.indexOf(value);
      show();
    };
    if (values.every((value) => YES_NO.includes(value)))
      return tick({
        name,
        label,
        value: values[0] === "True",
        change: (on) => change(on ? "True" : "False"),
      });
    if (values.every((value) => value !== "" && isFinite(value)))
      return slider({ name, label, choices: values, value: values[0], change });
    return menu({ name, label, options: values, value: values[0], change });
  };

  el.append(
    h("style", {}, BOX_STYLE),
    h("div", { class: "controls" }, choices.map(control)),
    parts,
    sentence,
  );
  show();
}

const PARTS = {
  text: (part, i) => h("p", { class: "note text", "data-value": `part ${i}` }, part.text),
  number: (part, i) =>
    h(
      "p",
      { class: "note", style: "font-size: 1.5rem; font-weight: 600", "data-value": `part ${i}` },
      part.text,
    ),
  table: shownTable,
  bars: shownBars,
  line: shownLine,
};

const YES_NO = ["False", "True"];

/** A choice in words. */
function named(label, value) {
  if (YES_NO.includes(value)) return value === "True" ? isolated(label) : `not ${isolated(label)}`;
  return `${isolated(label)} ${isolated(value)}`;
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
  const heads = (names, scope) => names.map((name) => h("th", { scope }, name));
  return scroll(
    caption,
    h(
      "table",
      {},
      h("caption", {}, caption),
      columns
        ? h("thead", {}, h("tr", {}, rows ? h("td", {}) : null, heads(columns, "col")))
        : null,
      h(
        "tbody",
        {},
        cells.map((row, r) =>
          h(
            "tr",
            {},
            rows ? heads([rows[r]], "row") : null,
            row.map((text, c) => h("td", { "data-value": `cell ${i} ${r} ${c}` }, text)),
          ),
        ),
      ),
    ),
  );
}

function shownBars({ names, texts, values, reach: [low, high] }, i) {
  const percent = (number) => `${(100 * number) / (high - low)}%`;
  const bar = (value) =>
    h("div", {
      style:
        `height: 0.8rem; background: currentColor; opacity: 0.45; ` +
        `margin-left: ${percent(Math.min(value, 0) - low)}; width: ${percent(Math.abs(value))}`,
    });
  return scroll(
    "Each value as a bar",
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        names.map((name, b) =>
          h(
            "tr",
            {},
            h("th", { scope: "row", style: "text-align: left" }, name),
            h("td", { "data-value": `bar ${i} ${b}` }, texts[b]),
            h(
              "td",
              { style: "width: 9rem; min-width: 6rem", "aria-hidden": "true" },
              bar(values[b] ?? 0),
            ),
          ),
        ),
      ),
    ),
  );
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
function endsTable({ curves, x_axis: axis, x_ends: ends }, i) {
  const sample = (c) =>
    draw(
      "svg",
      {
        width: 30,
        height: 8,
        "aria-hidden": "true",
        style: "display: inline-block; max-width: none",
      },
      draw("path", {
        d: "M0 4H30",
        stroke: LINES[c][0],
        "stroke-width": 2,
        "stroke-dasharray": LINES[c][1],
      }),
    );
  return scroll(
    `The ends of the curves over ${isolated(axis)}`,
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          ends.map((end) => h("th", { scope: "col" }, `${isolated(axis)} = ${end}`)),
        ),
      ),
      h(
        "tbody",
        {},
        curves.map(({ name, ends }, c) =>
          h(
            "tr",
            {},
            h(
              "th",
              { scope: "row", style: "text-align: left; white-space: normal" },
              sample(c),
              ` ${name}`,
            ),
            h("td", { "data-value": `first ${i} ${c}` }, ends[0]),
            h("td", { "data-value": `last ${i} ${c}` }, ends[1]),
          ),
        ),
      ),
    ),
  );
}
