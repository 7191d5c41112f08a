import { heatMap } from "./attention_map.js";
import { COLOURS, button, fixed, h, menu, randomFrom, scroll, slider, softmax, tick } from "./lib.js";
import { drawFrom, nextProbabilities } from "./sampling.js";
import { transformer } from "./transformer.js";

const MODEL_STYLE = `
.aos-view .story { font-family: ui-monospace, monospace; font-size: 1.05rem; line-height: 1.9; white-space: pre-wrap; margin: 0.5rem 0; }
.aos-view .story span { padding: 0.15rem 0; border-radius: 3px; unicode-bidi: isolate; }
.aos-view .story .asking { outline: 2px solid currentColor; outline-offset: 2px; }
.aos-view .bar { display: inline-block; height: 0.8rem; background: ${COLOURS.weights}; vertical-align: middle; }
.aos-view input.prompt { width: 34rem; max-width: 100%; font-family: ui-monospace, monospace; }
`;
const SHOWN = 8; // next characters in the table
const NAMES = { " ": "space", "\n": "end of story" };
/** A character, or its number where nothing would be seen of it. */
const named = (character) => NAMES[character] ??
  (/\p{C}/u.test(character) ? `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}` : character);

/** A character of a story in words: the first one only says that a story begins. */
const placed = (characters, i) => (i === 0 && characters[0] === "\n" ? "start" : named(characters[i] ?? ""));
/** The same in a sentence, where a comma would be read as one. */
const quoted = (characters, i) => { const name = placed(characters, i); return name === characters[i] ? `“${name}”` : name; };

/** A trained model that writes, shows where it looks, and whose heads can be switched off. */
export function render({ state, el }) {
  const model = transformer(state);
  const alphabet = [...state.alphabet];
  const start = alphabet.indexOf("\n");
  const off = new Set();
  const chosen = { temperature: 1, topK: alphabet.length, layer: 0, head: 0, asking: null };
  const random = randomFrom(1);
  let [text, cache, logits, maps] = ["", null, null, []];

  const story = h("p", { class: "story", "data-value": "story" });
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const wrong = h("p", { class: "note", role: "alert", "data-value": "wrong" });
  const next = h("div");
  const map = heatMap({ caption: "Where each character looks" });
  const answers = h("div");
  const place = (i) => `${i}: ${placed(["\n", ...text].slice(-maps.length), i)}`;
  const asking = slider({
    name: "asking", label: "asking character", min: 0, max: model.contextLength - 1, value: 0, text: place,
    change: (i) => { chosen.asking = i; show(); },
  });

  /** Read a text from the start character on, or only what is new behind the last one. */
  const read = (now, anew = false) => {
    const known = !anew && cache && now.startsWith(text) ? [...text].length : -1;
    if (known < 0) [cache, maps] = [model.newCache(), []];
    const ids = [...now].map((character) => alphabet.indexOf(character)).slice(Math.max(0, known));
    const fresh = known < 0 ? [start, ...ids] : ids;
    text = now;
    if (fresh.length === 0) return;
    const before = cache.ids.length;
    const result = model.read(cache, fresh, off);
    // Behind a full context everything was read anew.
    maps = result.maps.length > fresh.length ? result.maps : maps.concat(result.maps);
    if (before + fresh.length > model.contextLength) maps = maps.slice(-model.contextLength);
    logits = result.logits;
  };

  /** What may come next; behind a story that has ended, how the next one may begin. */
  const probabilities = () => nextProbabilities(Array.from(
    text.endsWith("\n") ? model.read(model.newCache(), [start], off).logits : logits), {
    temperature: chosen.temperature, topK: chosen.topK,
  });

  /** Draw one character; a story that has ended starts anew. */
  const write = () => {
    if (text.endsWith("\n")) read("", true);
    read(text + alphabet[drawFrom(probabilities(), random)]);
  };

  const show = () => {
    const characters = ["\n", ...text].slice(-maps.length);
    const asked = Math.min(chosen.asking ?? maps.length - 1, maps.length - 1);
    const row = maps[asked][chosen.layer][chosen.head];
    story.replaceChildren(...characters.map((character, i) => h("span", {
      class: i === asked ? "asking" : undefined,
      title: i <= asked ? `${placed(characters, i)}: ${fixed(row[i])}` : placed(characters, i),
      style: i <= asked ? `background: color-mix(in srgb, ${COLOURS.weights} ${Math.round(85 * row[i])}%, transparent)` : undefined,
    }, character === "\n" ? "↵" : character)));
    const input = asking.querySelector("input");
    [input.max, input.value] = [maps.length - 1, asked];
    input.setAttribute("aria-valuetext", place(asked));
    asking.querySelector("output").textContent = place(asked);
    const names = characters.map((_, i) => placed(characters, i));
    map.update(maps.map((one) => characters.map((_, j) => one[chosen.layer][chosen.head][j] ?? 0)),
      names, names, (i, j) => j > i);
    map.mark("queries", asked);
    const best = row.indexOf(Math.max(...row));
    said.textContent = `Layer ${chosen.layer + 1}, head ${chosen.head + 1}: ${quoted(characters, asked)} at ${asked} gives ` +
      `${quoted(characters, best)} at ${best} the most, ${fixed(row[best])}.`;
    next.replaceChildren(nextTable(alphabet, probabilities()));
  };

  const prompt = h("input", {
    class: "prompt", type: "text", "data-control": "prompt", "aria-label": "prompt", spellcheck: "false", autocomplete: "off",
    oninput: () => take(prompt.value),
  });
  /** Take a prompt; a character that the model doesn't know is named, and the prompt stays to be mended. */
  const take = (now) => {
    const unknown = [...now].find((character) => !alphabet.includes(character));
    wrong.textContent = unknown === undefined ? "" : `The model doesn't know “${named(unknown)}” at ${[...now].indexOf(unknown)}; below is still the text before. It knows space and ` +
      alphabet.filter((character) => /\S/.test(character)).join(" ");
    if (unknown !== undefined) return;
    chosen.asking = null;
    read(now, true);
    show();
  };
  const again = () => { read(text, true); show(); };
  const head = (layer, index) => tick({
    name: `head ${layer} ${index}`, label: `layer ${layer + 1}, head ${index + 1}`, value: true,
    change: (on) => { off[on ? "delete" : "add"](`${layer}.${index}`); answers.replaceChildren(); again(); },
  });
  const labels = Object.fromEntries(state.prompts);
  const numbers = (count) => Array.from({ length: count }, (_, i) => String(i + 1));

  el.append(h("style", {}, MODEL_STYLE),
    h("div", { class: "controls" },
      menu({ name: "prompts", label: "Start from", options: Object.keys(labels), value: state.prompts[0][0],
        change: (label) => { prompt.value = labels[label]; take(labels[label]); } }),
      h("label", {}, "or type ", prompt)),
    wrong,
    h("div", { class: "controls" },
      button({ name: "one", label: "Write one character", press: () => { chosen.asking = null; write(); show(); } }),
      button({ name: "story", label: "Write to the end of the story", press: () => {
        chosen.asking = null;
        do write(); while (!text.endsWith("\n") && [...text].length < 2 * model.contextLength);
        show();
      } }),
      slider({ name: "temperature", label: "temperature", min: 0, max: 2, step: 0.1, value: 1, text: (x) => fixed(x, 1),
        change: (x) => { chosen.temperature = x; show(); } }),
      slider({ name: "top-k", label: "top-k", min: 1, max: alphabet.length, value: alphabet.length, text: (k) => (k === alphabet.length ? "all" : String(k)),
        change: (k) => { chosen.topK = k; show(); } })),
    story,
    h("div", { class: "controls" },
      menu({ name: "layer", label: "Layer", options: numbers(model.layers), value: "1", change: (one) => { chosen.layer = one - 1; show(); } }),
      menu({ name: "head", label: "Head", options: numbers(model.heads), value: "1", change: (one) => { chosen.head = one - 1; show(); } }),
      asking),
    said,
    h("div", { class: "panels" }, next, map.element),
    h("fieldset", { class: "controls" }, h("legend", {}, "Heads that work:"),
      numbers(model.layers).flatMap((_, layer) => numbers(model.heads).map((__, index) => head(layer, index)))),
    h("div", { class: "controls" },
      button({ name: "ask", label: "Ask the questions", press: () => answers.replaceChildren(askedTable(model, alphabet, start, off, state.questions)) })),
    answers);
  prompt.value = state.prompts[0][1];
  take(prompt.value);
}

/** The most probable next characters, with bars. */
function nextTable(alphabet, probabilities) {
  const order = probabilities.map((_, i) => i).sort((a, b) => probabilities[b] - probabilities[a]).slice(0, SHOWN);
  return scroll("Next character", h("table", {},
    h("caption", {}, "Next character"),
    h("tbody", {}, order.map((i, place) => h("tr", {},
      h("th", { scope: "row", "data-value": `next ${place}` }, named(alphabet[i])),
      h("td", { "data-value": `probability ${place}` }, fixed(probabilities[i])),
      h("td", { style: "text-align: left; min-width: 7rem" }, h("span", { class: "bar", style: `width: ${(6 * probabilities[i]).toFixed(2)}rem` })))))));
}

/** Ask each question of the stories, with the heads that work; a share of right answers for each kind. */
function askedTable(model, alphabet, start, off, questions) {
  const right = new Map();
  for (const [text, marks] of questions) {
    const cache = model.newCache();
    const expected = [start, ...[...text].map((character) => alphabet.indexOf(character))].map((id) => softmax(Array.from(model.read(cache, [id], off).logits)));
    for (const [place, kind] of marks) {
      const found = right.get(kind) ?? [0, 0];
      right.set(kind, [found[0] + isRight(kind, text[place], expected[place], alphabet), found[1] + 1]);
    }
  }
  const rows = [...right].sort(([one], [other]) => one.localeCompare(other));
  return scroll("Right answers", h("table", {},
    h("caption", {}, "Right answers"),
    h("tbody", {}, rows.map(([kind, [count, all]]) => h("tr", {},
      h("th", { scope: "row" }, kind), h("td", { "data-value": `right ${kind}` }, `${count} of ${all}`))))));
}

/** As helpers.probes asks: an "s" or none, one pronoun against the other, the one right character. */
function isRight(kind, character, probabilities, alphabet) {
  const of = (one) => probabilities[alphabet.indexOf(one)];
  if (kind === "agreement" || kind.startsWith("attractor")) return of("s") > 0.5 === (character === "s");
  if (kind === "pronoun") {
    const [she, he] = [of("s") + of("S"), of("h") + of("H")];
    return "sS".includes(character) ? she > he : he > she;
  }
  return probabilities.indexOf(Math.max(...probabilities)) === alphabet.indexOf(character);
}
