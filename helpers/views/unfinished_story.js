import { arc, LEAST_ARC } from "./shared/arcs.js";
import { button, menu, tick } from "./shared/controls.js";
import { COLOURS, draw, h } from "./shared/page.js";
import { barTable, largest, named, nextTable, quoted, Reader } from "./shared/reader.js";
import { fixed } from "./shared/words.js";
import { transformer } from "./shared/transformer.js";

// Each character has its own place in the drawing, in pixels of an undistorted one.
const [WIDTH, HEIGHT, TOP] = [10, 46, 34];
const [FEWEST, MOST] = [14, 72]; // columns

/** A story that breaks off: where a head looks back from its last character, and what for. */
export function render({ state, el }) {
  const alphabet = [...state.alphabet];
  const stories = Object.fromEntries(state.stories);
  const reader = new Reader(transformer(state), alphabet);
  const chosen = { layer: state.head[0], head: state.head[1] };
  let story = state.stories[0][0];
  const picture = storyPicture();
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const panels = h("div", { class: "panels" });

  const show = () => {
    const shown = look(reader, chosen);
    sentence.textContent = shown.sentence;
    picture.show(shown);
    const next = reader.hasEnded()
      ? []
      : [nextTable(alphabet, reader.probabilities(AS_LEARNED), 5)];
    panels.replaceChildren(...next, looksTable(shown));
  };
  const tell = () => {
    reader.read(stories[story], true);
    show();
  };
  const works = headControls(reader, chosen, show);
  el.append(
    h(
      "div",
      { class: "controls" },
      menu({
        name: "story",
        label: "Story",
        options: Object.keys(stories),
        value: story,
        change: (label) => {
          story = label;
          tell();
        },
      }),
      button({
        name: "write",
        label: "Write one character",
        press: () => {
          if (!reader.hasEnded()) reader.write(MOST_PROBABLE);
          show();
        },
      }),
      button({
        name: "end",
        label: "Write to the end",
        press: () => {
          if (!reader.hasEnded()) reader.writeToTheEnd(MOST_PROBABLE);
          show();
        },
      }),
      button({ name: "start", label: "Start again", press: tell }),
    ),
    picture.element,
    sentence,
    works,
    panels,
  );
  tell();
}

const AS_LEARNED = { temperature: 1, topK: null };
const MOST_PROBABLE = { temperature: 0, topK: null };

/** Which head is shown, and whether it works; others that are off stay off. */
function headControls(reader, chosen, show) {
  const { layers, heads } = reader.model;
  const places = Array.from({ length: layers * heads }, (_, i) => [
    Math.floor(i / heads),
    i % heads,
  ]);
  const names = places.map(([layer, head]) => headName(layer, head));
  const working = tick({
    name: "works",
    label: "this head works",
    value: true,
    change: (on) => {
      reader.off[on ? "delete" : "add"](`${chosen.layer}.${chosen.head}`);
      reader.read(reader.text, true);
      show();
    },
  });
  const list = menu({
    name: "head",
    label: "Show",
    options: names,
    value: headName(chosen.layer, chosen.head),
    change: (name) => {
      [chosen.layer, chosen.head] = places[names.indexOf(name)];
      const box = /** @type {HTMLInputElement} */ (working.querySelector("input"));
      box.checked = !reader.off.has(`${chosen.layer}.${chosen.head}`);
      show();
    },
  });
  return h("div", { class: "controls" }, list, working);
}

const headName = (layer, head) => `head ${head} of layer ${layer}`; // both from 0

// --- what the model sees -------------------------------------------------------------------

/** What the last character's row of weights says, and what may come next. */
function look(reader, { layer, head }) {
  const characters = reader.characters();
  const weights = Array.from(reader.maps[characters.length - 1][layer][head]);
  const probabilities = reader.probabilities(AS_LEARNED);
  const next = largest(probabilities, 1)[0];
  const works = !reader.off.has(`${layer}.${head}`);
  const [best] = largest(weights, 1);
  const others = [...reader.off]
    .sort()
    .filter((one) => one !== `${layer}.${head}`)
    .map((one) => headName(...one.split(".").map(Number)));
  const sentence = [
    `After ${lastWords(characters)}, ${headName(layer, head)} gives its largest weight, ` +
      `${fixed(weights[best])}, to ${inItsWord(characters, best)}.`,
    works ? "" : "But it is off: what it finds there isn't passed on.",
    others.length ? `Also off: ${others.join(", ")}.` : "",
    reader.hasEnded()
      ? "The story has ended."
      : `The model expects ${quoted([reader.alphabet[next]], 0)} next, with probability ` +
        `${fixed(probabilities[next])}.`,
  ];
  return {
    characters,
    weights,
    best,
    works,
    next: reader.hasEnded() ? "" : named(reader.alphabet[next]),
    sentence: sentence.filter(Boolean).join(" "),
  };
}

/** The last two words or so, as they stand. */
function lastWords(characters) {
  const text = characters.slice(1).join("").trimEnd();
  const words = text.split(" ").filter(Boolean);
  if (words.length === 0) return "the start";
  return `“${words.length > 2 ? "… " : ""}${words.slice(-2).map(seen).join(" ")}”`;
}

const seen = (text) => text.replace(/\p{C}/gu, (one) => named(one));

/** A character, and the word that it stands in. */
function inItsWord(characters, i) {
  const isLetter = (one) => one !== undefined && /\p{L}/u.test(one);
  if (!isLetter(characters[i])) return `${quoted(characters, i)} at ${i}`;
  let [from, to] = [i, i + 1];
  while (isLetter(characters[from - 1])) from -= 1;
  while (isLetter(characters[to])) to += 1;
  const word = characters.slice(from, to).join("");
  return `${quoted(characters, i)} in “${word}”`;
}

/** The characters that get most, with bars. */
function looksTable({ characters, weights }) {
  return barTable(
    "Where the head looks",
    { name: "looked", number: "weight" },
    largest(weights, 5).map((i) => [inItsWord(characters, i), weights[i]]),
  );
}

// --- the drawing ---------------------------------------------------------------------------

/** The story as a drawing, whose lines break where the page's width asks for it. */
function storyPicture() {
  const drawing = draw("svg", { role: "img" });
  const element = h("div", { class: "unfinished" }, drawing);
  let columns = MOST;
  /** @type {any} */
  let shown = null;
  const paint = () => {
    if (shown === null) return;
    const { characters, sentence } = shown;
    const places = lines(characters, columns);
    const end = places[characters.length];
    const [width, height] = [columns * WIDTH + WIDTH, end.y + 22];
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.setAttribute("style", `width: ${width}px`);
    drawing.setAttribute("aria-label", `${seen(characters.slice(1).join(""))}… ${sentence}`);
    drawing.replaceChildren(...parts(shown, places));
  };
  const measure = () => {
    const fitting = Math.floor(element.clientWidth / WIDTH) - 1;
    const now = Math.max(FEWEST, Math.min(MOST, fitting));
    if (now === columns) return;
    columns = now;
    paint();
  };
  new ResizeObserver(() => requestAnimationFrame(measure)).observe(element);
  return {
    element,
    show: (now) => {
      shown = now;
      paint();
    },
  };
}

/** Where each character stands, and one more: lines break after a space where they can. */
function lines(characters, columns) {
  /** @type {string[]} */
  const words = characters.join("").match(/\S*\s|\S+$/gu) ?? [];
  let [row, column] = [0, 0];
  const places = [];
  const put = () => {
    places.push({ x: (column + 1) * WIDTH, y: TOP + row * HEIGHT });
    column += 1;
  };
  for (const word of words) {
    if (column > 0 && column + [...word.trimEnd()].length > columns) [row, column] = [row + 1, 0];
    for (const _ of word) {
      if (column > columns - 1) [row, column] = [row + 1, 0];
      put();
    }
  }
  if (column > columns - 1) [row, column] = [row + 1, 0];
  put();
  return places;
}

/** The marks under the letters, the arcs, the letters, the one number and what comes next. */
function parts({ characters, weights, best, works, next }, places) {
  const last = characters.length - 1;
  const colour = works ? COLOURS.weights : "currentColor";
  const marks = characters.map((_, i) =>
    draw("rect", {
      x: places[i].x - WIDTH / 2,
      y: places[i].y - 15,
      width: WIDTH,
      height: 20,
      fill: colour,
      "fill-opacity": (works ? 0.85 : 0.3) * weights[i],
    }),
  );
  const above = ({ x, y }) => ({ x, y: y - 17 });
  const arcs = largest(weights, weights.length)
    .filter((i) => weights[i] >= LEAST_ARC && i !== last)
    .map((i) => arc(above(places[last]), above(places[i]), weights[i], works));
  const letters = characters.map((one, i) =>
    draw("text", { x: places[i].x, y: places[i].y }, one === "\n" ? "↵" : one),
  );
  const end = places[last + 1];
  return [
    draw("g", {}, marks),
    draw("g", {}, arcs),
    draw("g", { class: "letters", "data-value": "text" }, letters),
    draw(
      "text",
      { class: "number", x: Math.max(14, places[best].x), y: places[best].y + 17 },
      fixed(weights[best]),
    ),
    draw(
      "g",
      { class: "letters next" },
      draw("rect", {
        x: end.x - WIDTH / 2,
        y: end.y - 15,
        width: WIDTH,
        height: 20,
        fill: "none",
        stroke: "currentColor",
        "stroke-dasharray": "2 2",
      }),
      draw("text", { x: end.x, y: end.y }, next === "space" ? "" : next),
    ),
  ];
}
