import { button, menu, slider } from "./shared/controls.js";
import { sum } from "./shared/mathematics.js";
import { COLOURS, draw, h } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

const SIZE = 140;
const REACH = 54; // from a clock's middle to the end of its longest hand
const CLASSES = ["queries", "keys"];
const ROLES = [COLOURS.queries, COLOURS.keys];

/** A query and a key as hands that turn with their places, and the score of the two. */
export function render({ state, el }) {
  const { names, last, speeds, slope } = state;
  const places = [...state.places];
  let scheme = state.schemes[0];
  const pairs = speeds.map((_, n) => state.vectors.map((one) => one.slice(2 * n, 2 * n + 2)));
  const longest = Math.max(...pairs.flat().map((hand) => Math.hypot(...hand))) || 1;
  const faces = h("div", { class: "panels" });
  const numbers = h("div", { "aria-live": "polite" });

  const show = () => {
    const hands = pairs.map((pair, n) =>
      pair.map((hand, i) => (scheme === "rotary" ? turned(hand, places[i] * speeds[n]) : hand)),
    );
    const products = hands.map(([query, key]) => query[0] * key[0] + query[1] * key[1]);
    faces.replaceChildren(
      ...hands.map((pair, n) => face({ pair, n, longest, names, product: products[n] })),
    );
    numbers.replaceChildren(...inWords({ names, places, scheme, slope, products }));
  };
  const move = [0, 1].map((i) => (place) => {
    places[i] = place;
    show();
  });
  const sliders = names.map((name, i) =>
    slider({
      name: CLASSES[i],
      label: `Place of ${isolated(name)}`,
      min: 0,
      max: last,
      value: places[i],
      change: move[i],
    }),
  );
  /** Both words go on or back together, as long as both stay in the text. */
  const together = (step) => () => {
    if (places.some((place) => place + step < 0 || place + step > last)) return;
    sliders.forEach((label, i) => {
      const input = /** @type {HTMLInputElement} */ (label.querySelector("input"));
      input.value = String(places[i] + step);
      input.dispatchEvent(new Event("input"));
    });
  };
  el.append(
    h(
      "div",
      { class: "controls" },
      sliders,
      button({ name: "back", label: "Both one back", press: together(-1) }),
      button({ name: "on", label: "Both one on", press: together(1) }),
      menu({
        name: "scheme",
        label: "Positions",
        options: state.schemes,
        value: scheme,
        change: (chosen) => {
          scheme = chosen;
          show();
        },
      }),
    ),
    faces,
    h(
      "p",
      { class: "note" },
      h("span", { class: CLASSES[0] }, `${isolated(names[0])}, the query: unbroken`),
      "; ",
      h("span", { class: CLASSES[1] }, `${isolated(names[1])}, the key: dashed`),
      ".",
    ),
    numbers,
  );
  show();
}

/** A pair of features, turned by an angle. */
function turned([a, b], angle) {
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  return [a * cosine - b * sine, a * sine + b * cosine];
}

/** One clock: a circle, and two hands. */
function face({ pair, n, longest, names, product }) {
  const middle = SIZE / 2;
  const told = pair.map((hand, i) => `${isolated(names[i])} at ${degrees(hand)}°`);
  return h(
    "div",
    {},
    h("p", { class: "note" }, `Pair ${n}`),
    draw(
      "svg",
      {
        viewBox: `0 0 ${SIZE} ${SIZE}`,
        width: SIZE,
        role: "img",
        "aria-label": `Pair ${n}: ${told.join(", ")}`,
      },
      draw("circle", {
        cx: middle,
        cy: middle,
        r: REACH + 8,
        fill: "none",
        stroke: "currentColor",
        "stroke-opacity": 0.3,
      }),
      pair.map(([a, b], i) =>
        draw("line", {
          x1: middle,
          y1: middle,
          x2: middle + (a / longest) * REACH,
          y2: middle - (b / longest) * REACH,
          stroke: ROLES[i],
          "stroke-width": 4,
          "stroke-dasharray": i === 0 ? undefined : "7 4",
        }),
      ),
    ),
    h("p", { class: "note" }, "product ", value(`product ${n}`, fixed(product))),
  );
}

const value = (name, text) => h("output", { "data-value": name }, text);
const degrees = ([a, b]) => fixed((Math.atan2(b, a) * 180) / Math.PI, 0);

function inWords({ names, places, scheme, slope, products }) {
  const distance = places[0] - places[1];
  const scaled = sum(products) / Math.sqrt(2 * products.length);
  const bias = scheme === "ALiBi" ? slope * Math.abs(distance) : 0;
  const added = products.map((one) => fixed(one)).join(" + ");
  const taken = scheme === "ALiBi" ? ` − ${slope} · ${Math.abs(distance)}` : "";
  const line = (name, text) => h("p", { class: "note", "data-value": name }, text);
  return [
    line("distance", where(names, distance)),
    line("sum", `(${added}) / √${2 * products.length}${taken} =`),
    h("p", { class: "note" }, "score ", value("score", fixed(scaled - bias))),
  ];
}

function where(names, distance) {
  const [query, key] = names.map(isolated);
  if (distance === 0) return "Both stand at the same place.";
  if (distance < 0) return `${key} comes later: a causal mask would hide it.`;
  return `${key} stands ${distance} before ${query}.`;
}
