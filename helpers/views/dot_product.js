import { handle } from "./shared/controls.js";
import { dot } from "./shared/mathematics.js";
import { COLOURS, draw, h } from "./shared/page.js";
import { axes, scale, segment, SIZE } from "./shared/plane.js";
import { fixed, isolated } from "./shared/words.js";

/** Two vectors, dragged: their dot product as products of entries, and as lengths and an angle. */
export function render({ state, el }) {
  const { names, columns } = state;
  const vectors = state.vectors.map(([x, y]) => [x, y]);
  const arrows = draw("g");
  const numbers = h("div", { "aria-live": "polite" });

  const show = () => {
    arrows.replaceChildren(
      ...shadow(vectors),
      ...vectors.map(arrow),
      ...vectors.map((vector, i) => label(isolated(names[i]), vector, i)),
    );
    numbers.replaceChildren(...inWords(names, columns, vectors));
  };
  const handles = names.map((name, i) =>
    handle({
      name: ["query", "key"][i],
      label: name,
      at: vectors[i],
      scale,
      colour: ROLES[i],
      move: (at) => {
        vectors[i] = at;
        show();
      },
    }),
  );
  el.append(
    h("p", { class: "note" }, "Drag an arrow by its end, or move it with the arrow keys."),
    h(
      "div",
      { class: "panels" },
      draw(
        "svg",
        {
          viewBox: `0 0 ${SIZE} ${SIZE}`,
          width: SIZE,
          role: "group",
          "aria-label": `${isolated(names[0])} and ${isolated(names[1])} as arrows in the plane`,
        },
        axes(),
        draw("text", { x: SIZE - 4, y: SIZE / 2 + 28, "text-anchor": "end" }, `${columns[0]} →`),
        draw("text", { x: SIZE / 2 + 6, y: 12 }, `↑ ${columns[1]}`),
        arrows,
        handles,
      ),
      numbers,
    ),
  );
  show();
}

const ROLES = [COLOURS.queries, COLOURS.keys];
const CLASSES = ["queries", "keys"];

const arrow = (vector, i) => segment([0, 0], vector, { stroke: ROLES[i], "stroke-width": 3 });

/** A vector's name beyond its end, inside the drawing. */
function label(name, vector, i) {
  const [x, y] = scale.to(vector[0], vector[1]);
  const inside = (place, margin) => Math.max(margin, Math.min(SIZE - margin, place));
  return draw(
    "text",
    {
      x: inside(x, 24),
      y: inside(y + (vector[1] < 0 ? 26 : -16), 12),
      "text-anchor": "middle",
      class: CLASSES[i],
      fill: "currentColor",
    },
    name,
  );
}

/** How far the key reaches along the query's direction, and the way down to it. */
function shadow([query, key]) {
  const square = dot(query, query);
  if (square === 0) return [];
  const foot = query.map((number) => (number * dot(query, key)) / square);
  const down = { stroke: "currentColor", "stroke-opacity": 0.6, "stroke-dasharray": "3 4" };
  const along = { stroke: ROLES[1], "stroke-width": 9, "stroke-opacity": 0.35 };
  return [segment([0, 0], foot, along), segment(key, foot, down)];
}

/** The two ways to the same number. */
function inWords(names, columns, [query, key]) {
  const [one, other] = names.map(isolated);
  const lengths = [query, key].map((vector) => Math.hypot(...vector));
  const product = lengths[0] * lengths[1];
  const cosine = product === 0 ? null : Math.max(-1, Math.min(1, dot(query, key) / product));
  const degrees = cosine === null ? null : (Math.acos(cosine) * 180) / Math.PI;
  const factors = [...lengths, Number(cosine)].map((one) => fixed(one)).join(" · ");
  const entry = (i) => `${fixed(query[i])} · ${fixed(key[i])}`;
  const line = (name, text) => h("p", { class: "note", "data-value": name }, text);
  return [
    line("entries", `${entry(0)} + ${entry(1)} = ${fixed(dot(query, key))}`),
    line("lengths", `Length of ${one}: ${fixed(lengths[0])}; of ${other}: ${fixed(lengths[1])}.`),
    line(
      "angle",
      degrees === null
        ? "A vector of zeros has no direction, and every dot product with it is 0."
        : `Angle between them: ${fixed(degrees, 0)}°, whose cosine is ${fixed(Number(cosine))}.`,
    ),
    line("product", cosine === null ? "" : `${factors} = ${fixed(product * cosine)}`),
    line("meaning", meaning(dot(query, key))),
  ];
}

function meaning(score) {
  if (Math.abs(score) < 0.005) return "The score is 0: nothing of the one points the other's way.";
  return score > 0
    ? "The angle is smaller than a right angle, so the score is positive."
    : "The angle is larger than a right angle, so the score is negative.";
}
