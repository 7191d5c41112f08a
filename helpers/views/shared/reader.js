// A text that a model reads and continues, in the page: what may come next, and its characters'
// names.
import { randomFrom } from "./mathematics.js";
import { h, scroll, table } from "./page.js";
import { drawFrom, nextProbabilities } from "./sampling.js";
import { fixed } from "./words.js";

/** A text that the model reads from the start character on, and continues. */
export class Reader {
  constructor(model, alphabet) {
    this.model = model;
    this.alphabet = alphabet;
    this.start = alphabet.indexOf("\n");
    this.random = randomFrom(1);
    this.off = new Set(); // heads that add nothing, as "layer.head"
    this.text = "";
    this.cache = model.newCache();
    this.logits = new Float32Array();
    this.maps = []; // for each character read: layers, heads, weights
  }

  ids(text) {
    return Array.from(text, (character) => this.alphabet.indexOf(character));
  }

  /** The characters that the model still sees; the first says that a story begins. */
  characters() {
    return ["\n", ...this.text].slice(-this.maps.length);
  }

  hasEnded() {
    return this.text.endsWith("\n");
  }

  /** Read a text from the start character on, or only what is new after the last one. */
  read(text, anew = false) {
    const { contextLength } = this.model;
    const added =
      anew || !text.startsWith(this.text) ? null : this.ids(text.slice(this.text.length));
    const more = added !== null && added.length < contextLength;
    // Of a long text, only what fits is read.
    const ids = more ? added : [this.start, ...this.ids(text)].slice(-contextLength);
    if (!more) [this.cache, this.maps] = [this.model.newCache(), []];
    this.text = text;
    if (ids.length === 0) return;
    const before = this.cache.ids.length;
    const { maps, logits } = this.model.read(this.cache, ids, this.off);
    // After a full context everything was read anew.
    this.maps = maps.length > ids.length ? maps : this.maps.concat(maps);
    if (before + ids.length > contextLength) this.maps = this.maps.slice(-contextLength);
    this.logits = logits;
  }

  /** What may come next; after a story that has ended, how the next one may begin. */
  probabilities({ temperature, topK }) {
    const { logits } = this.hasEnded()
      ? this.model.read(this.model.newCache(), [this.start], this.off)
      : this;
    return nextProbabilities(Array.from(logits), { temperature, topK });
  }

  /** Draw one character; a story that has ended starts anew. */
  write(options) {
    if (this.hasEnded()) this.read("", true);
    this.read(this.text + this.alphabet[drawFrom(this.probabilities(options), this.random)]);
  }

  writeToTheEnd(options) {
    do this.write(options);
    while (!this.hasEnded() && [...this.text].length < this.model.contextLength);
  }
}

/** A table of names and numbers, each with a bar; `values` are the numbers' data-values. */
export function barTable(caption, values, rows) {
  const row = ([name, number], place) => [
    h("th", { scope: "row", "data-value": `${values.name} ${place}` }, name),
    h("td", { "data-value": `${values.number} ${place}` }, fixed(number)),
    h(
      "td",
      { class: "barred" },
      h("span", { class: "bar", style: `width: ${(6 * number).toFixed(2)}rem` }),
    ),
  ];
  return scroll(caption, table(caption, null, rows.map(row)));
}

/** The places of the largest numbers, the largest first; among equal ones the earlier. */
export const largest = (numbers, count) =>
  Array.from(numbers, (_, i) => i)
    .sort((a, b) => numbers[b] - numbers[a])
    .slice(0, count);

/** The most probable next characters, with bars. */
export function nextTable(alphabet, probabilities, count) {
  return barTable(
    "Next character",
    { name: "next", number: "probability" },
    largest(probabilities, count).map((i) => [named(alphabet[i]), probabilities[i]]),
  );
}

// --- names of characters -------------------------------------------------------------------

const NAMES = { " ": "space", "\n": "end of story" };

/** A character, or its number where nothing would be seen of it. */
export function named(character) {
  const unseen = /\p{C}/u.test(character);
  const number = () => character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
  return NAMES[character] ?? (unseen ? `U+${number()}` : character);
}

/** A character of a story in words: the first one only says that a story begins. */
export function placed(characters, i) {
  return i === 0 && characters[0] === "\n" ? "start" : named(characters[i] ?? "");
}

/** The same in a sentence, where a comma would be read as one. */
export function quoted(characters, i) {
  const name = placed(characters, i);
  return name === characters[i] ? `“${name}”` : name;
}
