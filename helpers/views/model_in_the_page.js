import { isRight } from "./shared/answers.js";
import { button, menu, slider, tick } from "./shared/controls.js";
import { heatMap } from "./shared/heat_map.js";
import { softmax } from "./shared/mathematics.js";
import { COLOURS, h, mixed, scroll, table } from "./shared/page.js";
import { named, nextTable, placed, quoted, Reader } from "./shared/reader.js";
import { fixed } from "./shared/words.js";
import { transformer } from "./shared/transformer.js";

const SHOWN = 8; // next characters in the table

/** A trained model that writes, shows where it looks, and whose heads can be switched off. */
export function render({ state, el }) {
  const alphabet = [...state.alphabet];
  const reader = new Reader(transformer(state), alphabet);
  const chosen = { temperature: 1, topK: alphabet.length, layer: 0, head: 0, asking: null };
  const next = h("div");
  const show = () => {
    picture.show(reader, chosen);
    next.replaceChildren(nextTable(alphabet, reader.probabilities(chosen), SHOWN));
  };
  const choose = (name) => (value) => {
    chosen[name] = value;
    show();
  };
  const { onlyWriting } = state;
  const picture = onlyWriting ? plainStory() : attentionPicture(reader.model, choose("asking"));
  const prompts = promptControls(state.prompts, alphabet, (text) => {
    reader.read(text, true);
    choose("asking")(null);
  });
  const buttons = writingButtons(reader, chosen, choose);
  if (onlyWriting) {
    el.append(...prompts.elements, h("div", { class: "controls" }, buttons), picture.story, next);
    prompts.start();
    return;
  }
  const questions = questionControls(reader, state.questions, () => {
    reader.read(reader.text, true);
    show();
  });

  el.append(
    ...prompts.elements,
    h("div", { class: "controls" }, buttons, drawingControls(chosen, choose)),
    picture.story,
    mapControls(reader.model, choose, picture.asking),
    picture.sentence,
    h("div", { class: "panels" }, next, picture.map),
    ...questions,
  );
  prompts.start();
}

// --- controls ------------------------------------------------------------------------------

/** Prompts to choose from, a field for one's own, and what is wrong with it. */
function promptControls(prompts, alphabet, take) {
  const texts = Object.fromEntries(prompts);
  const wrong = h("p", { class: "note", role: "alert", "data-value": "wrong" });
  /** A character that the model doesn't know is named, and the prompt stays to be mended. */
  const check = (text) => {
    const unknown = [...text].find((character) => !alphabet.includes(character));
    wrong.textContent = unknown === undefined ? "" : unknownSentence(text, unknown, alphabet);
    if (unknown === undefined) take(text);
  };
  const field = h("input", {
    class: "prompt",
    type: "text",
    "data-control": "prompt",
    "aria-label": "prompt",
    spellcheck: "false",
    oninput: () => check(field.value),
  });
  const put = (text) => {
    field.value = text;
    check(text);
  };
  const list = menu({
    name: "prompts",
    label: "Start from",
    options: Object.keys(texts),
    value: prompts[0][0],
    change: (label) => put(texts[label]),
  });
  const controls = h("div", { class: "controls" }, list, h("label", {}, "or type ", field));
  return { elements: [controls, wrong], start: () => put(prompts[0][1]) };
}

function unknownSentence(text, unknown, alphabet) {
  const place = [...text].indexOf(unknown);
  const known = alphabet.filter((character) => /\S/.test(character)).join(" ");
  return (
    `The model doesn't know “${named(unknown)}” at ${place}; ` +
    `below is still the text before. It knows space and ${known}`
  );
}

/** Buttons that write one character or all of a story. */
function writingButtons(reader, chosen, choose) {
  const writing = (write) => () => {
    write();
    choose("asking")(null);
  };
  return [
    button({
      name: "one",
      label: "Write one character",
      press: writing(() => reader.write(chosen)),
    }),
    button({
      name: "story",
      label: "Write to the end of the story",
      press: writing(() => reader.writeToTheEnd(chosen)),
    }),
  ];
}

/** How the next character is drawn. */
function drawingControls(chosen, choose) {
  const all = chosen.topK;
  return [
    slider({
      name: "temperature",
      label: "temperature",
      min: 0,
      max: 2,
      step: 0.1,
      value: 1,
      text: (x) => fixed(x, 1),
      change: choose("temperature"),
    }),
    slider({
      name: "top-k",
      label: "top-k",
      min: 1,
      max: all,
      value: all,
      text: (k) => (k === all ? "all" : String(k)),
      change: choose("topK"),
    }),
  ];
}

/** Which head's weights are shown, and for which character. */
function mapControls(model, choose, asking) {
  const list = (name, label, count) =>
    menu({
      name,
      label,
      options: Array.from({ length: count }, (_, i) => String(i)),
      value: "0",
      change: (one) => choose(name)(Number(one)),
    });
  return h(
    "div",
    { class: "controls" },
    list("layer", "Layer", model.layers),
    list("head", "Head", model.heads),
    asking,
  );
}

/** Heads to switch off, and the questions to ask those that are left. */
function questionControls(reader, questions, changed) {
  const answers = h("div");
  const head = (layer, index) =>
    tick({
      name: `head ${layer} ${index}`,
      label: `layer ${layer}, head ${index}`,
      value: true,
      change: (on) => {
        reader.off[on ? "delete" : "add"](`${layer}.${index}`);
        answers.replaceChildren();
        changed();
      },
    });
  const { layers, heads } = reader.model;
  const ticks = Array.from({ length: layers * heads }, (_, i) =>
    head(Math.floor(i / heads), i % heads),
  );
  const ask = button({
    name: "ask",
    label: "Ask the questions",
    press: () => answers.replaceChildren(askedTable(reader, questions)),
  });
  return [
    h("fieldset", { class: "controls" }, h("legend", {}, "Heads that work:"), ticks),
    h("div", { class: "controls" }, ask),
    answers,
  ];
}

// --- what is shown -------------------------------------------------------------------------

/** The story alone. */
function plainStory() {
  const story = h("p", { class: "story", "aria-live": "polite", "data-value": "story" });
  const show = (reader) => {
    const characters = reader.characters().map((one) => (one === "\n" ? "↵" : one));
    story.replaceChildren(...characters.map((one) => h("span", {}, one)));
  };
  return { story, show };
}

/** The story and a map, coloured by where one head looks; `ask` hears which character asks. */
function attentionPicture(model, ask) {
  const story = h("p", { class: "story", "data-value": "story" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const map = heatMap({ caption: "Where each character looks" });
  let names = ["start"];
  const place = (i) => `${i}: ${names[i] ?? ""}`;
  const asking = slider({
    name: "asking",
    label: "asking character",
    min: 0,
    max: model.contextLength - 1,
    value: 0,
    text: place,
    change: ask,
  });

  const show = (reader, chosen) => {
    const characters = reader.characters();
    const last = characters.length - 1;
    const asked = Math.min(chosen.asking ?? last, last);
    const rows = reader.maps.map((layers) => layers[chosen.layer][chosen.head]);
    names = characters.map((_, i) => placed(characters, i));
    story.replaceChildren(...colouredStory(characters, names, rows[asked], asked));
    moveSlider(asking, last, asked, place(asked));
    map.update(
      rows.map((row) => characters.map((_, j) => row[j] ?? 0)),
      names,
      names,
      (i, j) => j > i,
    );
    map.mark("queries", asked);
    sentence.textContent = lookSentence(characters, rows[asked], asked, chosen);
  };
  return { story, asking, sentence, map: map.element, show };
}

/** Each character on as much colour as the asking one gives it. */
function colouredStory(characters, names, row, asked) {
  return characters.map((character, i) =>
    h(
      "span",
      {
        class: i === asked ? "asking" : undefined,
        title: i <= asked ? `${names[i]}: ${fixed(row[i])}` : names[i],
        style: i <= asked ? `background: ${mixed(COLOURS.weights, 85 * row[i])}` : undefined,
      },
      character === "\n" ? "↵" : character,
    ),
  );
}

function moveSlider(label, last, value, text) {
  const input = label.querySelector("input");
  [input.max, input.value] = [last, value];
  input.setAttribute("aria-valuetext", text);
  label.querySelector("output").textContent = text;
}

function lookSentence(characters, row, asked, { layer, head }) {
  const best = row.indexOf(Math.max(...row));
  return (
    `Layer ${layer}, head ${head}: ${quoted(characters, asked)} at ${asked} gives ` +
    `${quoted(characters, best)} at ${best} the most, ${fixed(row[best])}.`
  );
}

/** Ask each question, with the heads that work; a share of right answers for each kind. */
function askedTable(reader, questions) {
  const rows = [...rightAnswers(reader, questions)].sort(([one], [other]) =>
    one.localeCompare(other),
  );
  const row = ([kind, [count, all]]) => [
    kind,
    h("td", { "data-value": `right ${kind}` }, `${count} of ${all}`),
  ];
  return scroll("Right answers", table("Right answers", null, rows.map(row)));
}

/** For each kind of question: how many were answered rightly, and how many there are. */
function rightAnswers(reader, questions) {
  const right = new Map();
  for (const [text, marks] of questions) {
    const cache = reader.model.newCache();
    const expected = [reader.start, ...reader.ids(text)].map((id) =>
      softmax(Array.from(reader.model.read(cache, [id], reader.off).logits)),
    );
    for (const [place, kind] of marks) {
      const [count, all] = right.get(kind) ?? [0, 0];
      const good = isRight(kind, text[place], expected[place], reader.alphabet);
      right.set(kind, [count + Number(good), all + 1]);
    }
  }
  return right;
}
