// What is shown of a model that learns in the page: numbers, answers, its words, where it looks.
import { menu, slider } from "../shared/controls.js";
import { heatMap } from "../shared/heat_map.js";
import { COLOURS, h, mixed, scroll, table } from "../shared/page.js";
import { placed, quoted } from "../shared/reader.js";
import { fixed, isolated, several, visible } from "../shared/words.js";
import { sizesInWords } from "./choices.js";

const ASKED_FIRST = 20; // the place of the character that is asked where it looks
const CALM = 100; // steps between two pictures for a reader who wants little motion

/**
 * The panel of one training; `look` asks for another place of the model.
 * @param {{
 *   config: any, steps: number, parameters: number, least: number | null, texts: string[],
 * }} ready
 */
export function panel({ config, steps, parameters, least, texts }, chart, look) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const source = least === null ? "a text of yours" : "little-world";
  const title = `${several(parameters, "parameter")}: ${sizesInWords(config)}, on ${source}`;
  const numbers = numbersTable(title, least !== null);
  const answers = answersTable();
  const sample = h("p", { class: "sample", "data-value": "sample" });
  const picture = mapOf(config, texts, look);
  const losses = [];
  /** @type {[number, number][]} */
  const heldOut = [];
  let last = { step: 0, characters: 0, milliseconds: 0, spent: 0 };

  const heldOutNow = () => heldOut[heldOut.length - 1][1];
  const above = () => (least === null ? null : 100 * (heldOutNow() / least - 1));
  const isDue = (running) => !calm || !running || last.step % CALM === 0;
  const inWords = () => {
    const words = `the held-out loss is ${fixed(heldOutNow(), 3)}`;
    const percent = above();
    return percent === null ? words : `${words}, ${fixed(percent, 1)}% above the floor`;
  };
  const showTimes = () => {
    const { step, characters, milliseconds, spent } = last;
    numbers.set("step", `${step} of ${steps}`);
    if (!step) return;
    numbers.set("speed", Math.round((1000 * characters) / milliseconds).toLocaleString("en"));
    numbers.set("left", duration(((steps - step) * spent) / step / 1000));
  };
  showTimes();

  const element = h(
    "div",
    {},
    h("div", { class: "panels" }, chart.element, numbers.element, answers.element),
    h("p", { class: "note" }, "What the model writes now:"),
    sample,
    picture.element,
  );
  return {
    element,
    inWords,
    step(data, running) {
      losses.push(data.loss);
      last = data;
      if (isDue(running)) chart.showBatches(losses);
      showTimes();
    },
    /** A sentence for whoever listens, now and then. */
    examined({ step, loss, answers: found }, running) {
      if (heldOut.at(-1)?.[0] !== step) heldOut.push([step, loss]);
      chart.showHeldOut(heldOut);
      chart.showBatches(losses);
      numbers.set("found after", String(step));
      numbers.set("held out", fixed(loss, 3));
      const percent = above();
      if (percent !== null) numbers.set("above", `${fixed(percent, 1)}%`);
      answers.show(found);
      return running && (step === 0 || step % CALM)
        ? ""
        : `After ${several(step, "step")} ${inWords()}.`;
    },
    sample({ text }, running) {
      if (isDue(running)) sample.textContent = text;
    },
    look(data, running) {
      if (data.asked || isDue(running)) picture.show(data);
    },
  };
}

/** A table whose cells stay while their texts change. */
function numbersTable(title, hasFloor) {
  const cells = {};
  const row = (name, value) => {
    cells[value] = h("td", { "data-value": value });
    return [name, cells[value]];
  };
  const element = h(
    "div",
    { "data-value": "numbers" },
    table(title, null, [
      row("step", "step"),
      row("last examined after", "found after"),
      row("held-out loss", "held out"),
      ...(hasFloor ? [row("above the floor", "above")] : []),
      row("characters a second", "speed"),
      row("time left", "left"),
    ]),
  );
  const set = (value, text) => {
    cells[value].textContent = text;
  };
  return { element, set };
}

/** Shares of right answers, by the kind of question. */
function answersTable() {
  const element = h("div");
  /** @type {{ [kind: string]: HTMLTableCellElement }} */
  const cells = {};
  const show = (found) => {
    const kinds = Object.keys(found).sort((one, other) => one.localeCompare(other));
    if (!kinds.length) return;
    if (!(kinds[0] in cells)) {
      for (const kind of kinds) cells[kind] = h("td", { "data-value": `right ${kind}` });
      const rows = kinds.map((kind) => [kind, cells[kind]]);
      element.replaceChildren(scroll("Right answers", table("Right answers", null, rows)));
    }
    for (const kind of kinds) {
      const [right, all] = found[kind];
      cells[kind].textContent = `${right} of ${all}`;
      cells[kind].style.background = mixed(COLOURS.values, (60 * right) / all);
    }
  };
  return { element, show };
}

/** Where one head looks in a held-out text, as a map and in words for one character. */
function mapOf(config, texts, look) {
  const where = { place: 0, layer: config.layers - 1, head: 0 };
  /** @type {{ characters: string[], weights: number[][], layer: number, head: number }} */
  let shown = { characters: [], weights: [], layer: 0, head: 0 };
  let asking = Math.min(ASKED_FIRST, config.contextLength - 1);
  // The first character can only look at itself, with a weight of 1.
  const map = heatMap({ caption: "Where each character looks", first: 1 });
  const read = h("p", { class: "read" });
  const sentence = h("p", { class: "note", "data-value": "looks" });
  const tell = () => {
    const { characters, weights, layer, head } = shown;
    const asked = Math.min(asking, characters.length - 1);
    if (asked < 0) return;
    const best = weights[asked].indexOf(Math.max(...weights[asked]));
    map.mark("queries", asked);
    const begin = characters[0] === "\n" && asked ? 1 : 0; // no empty line at the start
    read.replaceChildren(
      characters.slice(begin, asked).join(""),
      h("mark", {}, visible(characters[asked])),
      characters.slice(asked + 1).join(""),
    );
    sentence.textContent =
      `Block ${layer}, head ${head}: ${quoted(characters, asked)} at ${asked} gives ` +
      `${quoted(characters, best)} at ${best} the most, ${fixed(weights[asked][best])}.`;
  };
  const list = (name, label, options) =>
    menu({
      name,
      label,
      options,
      value: options[where[name]],
      change: (option) => {
        where[name] = options.indexOf(option);
        look({ ...where });
      },
    });
  const count = (number) => Array.from({ length: number }, (_, i) => String(i));
  const begins = texts.map(
    (text, i) => `${i + 1}: ${isolated(visible([...text].slice(0, 30).join("")))}…`,
  );
  const element = h(
    "div",
    {},
    h(
      "div",
      { class: "controls" },
      list("place", "Held-out text", begins),
      list("layer", "Block", count(config.layers)),
      list("head", "Head", count(config.heads)),
      slider({
        name: "asking",
        label: "Asking character",
        min: 0,
        max: config.contextLength - 1,
        value: asking,
        change: (place) => {
          asking = place;
          tell();
        },
      }),
    ),
    read,
    sentence,
    map.element,
  );
  const show = (data) => {
    shown = data;
    const names = data.characters.map((_, i) => placed(data.characters, i));
    map.update(data.weights, names, names, (i, j) => j > i);
    tell();
  };
  return { element, show };
}

function duration(seconds) {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}
