// What a model in the page learns from: fresh stories of little-world without end, or a text of the
// reader's own. Both hand out texts as the model reads them, {inputs, targets}.
import { randomFrom } from "../shared/mathematics.js";
import { visible } from "../shared/words.js";
import { tell } from "./stories.js";
/** @import { Words } from "./stories.js" */

const HELD_OUT = 100; // stories
const HELD_OUT_SEED = 4294967295; // no training takes it
export const OWN_TEXT = { shortest: 2000, longest: 200000, characters: 150 };

/** Ids of characters; one that the alphabet hasn't is named. */
export function encode(text, alphabet) {
  const ids = new Map(alphabet.map((character, id) => [character, id]));
  return Array.from(text, (character) => {
    const id = ids.get(character);
    if (id === undefined)
      throw new Error(
        "The model of this file has learned another text: it doesn't know " +
          `“${visible(character)}”. Put its own text into the field ` +
          "(little-world: leave that empty), and open it again.",
      );
    return id;
  });
}

export class Stories {
  /**
   * @param {Words} words
   * @param {string[]} alphabet
   */
  constructor(words, alphabet) {
    this.words = words;
    this.alphabet = alphabet;
    const random = randomFrom(HELD_OUT_SEED);
    const told = Array.from({ length: HELD_OUT }, () => tell(words, random));
    this.heldOut = told.map((story) => ({ ...story, ...this.#asRead(story.text) }));
    const sum = (of) => told.reduce((total, story) => total + of(story), 0);
    /** What the grammar itself loses on these stories, in nats per character. */
    this.least = sum(({ nats }) => nats) / sum(({ text }) => text.length);
    this.start = "\n";
  }

  /** The start character, then the text: each character is a target. */
  #asRead(text) {
    const ids = encode(`\n${text}`, this.alphabet);
    return { inputs: ids.slice(0, -1), targets: ids.slice(1) };
  }

  batch(size, random) {
    return Array.from({ length: size }, () => this.#asRead(tell(this.words, random).text));
  }
}

export class OwnText {
  /**
   * @param {string} given
   * @param {number} length of a window, in characters
   * @param {string[]} [alphabet] of a model that is there already
   */
  constructor(given, length, alphabet) {
    const text = given.replace(/\p{Surrogate}/gu, "\ufffd"); // halves of characters
    const { shortest, longest, characters } = OWN_TEXT;
    const count = [...text].length;
    const say = (number) => number.toLocaleString("en");
    if (count < shortest)
      throw new Error(
        `The text has ${say(count)} characters; at least ${say(shortest)} are needed.`,
      );
    if (new TextEncoder().encode(text).length > longest)
      throw new Error(`The text is longer than ${say(longest / 1000)} kB. Take a part of it.`);
    this.alphabet = alphabet ?? [...new Set(text)].sort();
    if (!alphabet && this.alphabet.length > characters)
      throw new Error(
        `The text has ${say(this.alphabet.length)} different characters; the page takes at most ` +
          `${characters}. Perhaps it holds signs of a script with thousands of them.`,
      );
    const ids = encode(text, this.alphabet);
    const most = Math.floor(ids.length * 0.9);
    this.train = ids.slice(0, most);
    this.length = length;
    const rest = ids.slice(most);
    const windows = Math.floor((rest.length - 1) / length);
    this.heldOut = Array.from({ length: Math.min(windows, HELD_OUT) }, (_, i) =>
      this.#window(rest, i * length),
    );
    if (windows < 1)
      throw new Error(`The text is too short for a context of ${length} characters.`);
    this.least = null; // nobody knows it
    this.start = this.alphabet.includes("\n") ? "\n" : this.alphabet[ids[0]];
  }

  #window(ids, at) {
    const both = ids.slice(at, at + this.length + 1);
    return {
      inputs: both.slice(0, -1),
      targets: both.slice(1),
      text: both.map((id) => this.alphabet[id]).join(""),
      marks: [],
    };
  }

  batch(size, random) {
    const places = this.train.length - this.length;
    return Array.from({ length: size }, () =>
      this.#window(this.train, Math.floor(random() * places)),
    );
  }
}
