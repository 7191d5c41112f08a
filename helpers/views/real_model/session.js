// A text that a model reads and writes on: what stands in it, what is switched off, and what the
// model makes of it.
import { randomFrom } from "../shared/mathematics.js";
import { drawFrom, nextProbabilities } from "../shared/sampling.js";
/** @import { BytePairs } from "./byte_pairs.js" */
/** @import { Cache, Llama } from "./llama.js" */

const SHOWN = 10; // most probable next tokens
const CHARACTERS_A_TOKEN = 16; // of a text that isn't too long, at most

export class Session {
  /**
   * @param {Llama} model
   * @param {BytePairs} tokenizer
   */
  constructor(model, tokenizer) {
    this.model = model;
    this.tokenizer = tokenizer;
    this.ids = /** @type {number[]} */ ([]);
    this.off = /** @type {Set<string>} */ (new Set());
    this.text = "";
    this.given = 0; // tokens that weren't written here
    this.isChat = false;
    this.kept = { ids: this.ids, text: "", given: 0, isChat: false, off: this.off };
    /** One for all parts at work, and one for some of them off, so that both are kept. */
    this.caches = /** @type {Cache[]} */ ([model.newCache(), model.newCache()]);
  }

  get cache() {
    return this.caches[this.off.size > 0 ? 1 : 0];
  }

  get logits() {
    const { logits } = this.cache;
    if (!logits) throw new Error("Nothing has been read yet.");
    return logits;
  }

  /** What `catchUp` reads: a text from its start, alone or as a chat's first message. */
  begin(text, chat, off) {
    const { longest } = this.model;
    const names = this.#checked(off);
    if (!text) throw new Error("The text is empty: the model needs at least one character.");
    if (text.length > CHARACTERS_A_TOKEN * longest)
      throw new Error(
        `The text has ${text.length.toLocaleString("en")} characters. Take a part of it: this ` +
          `page reads ${longest} tokens at most, about ` +
          `${(4 * longest).toLocaleString("en")} characters.`,
      );
    const ids = chat ? this.tokenizer.encodeChat(text) : this.tokenizer.encode(text);
    if (ids.length === 0)
      throw new Error("The model's tokenizer has no tokens for anything in this text.");
    if (ids.length > longest)
      throw new Error(
        `The text has ${ids.length.toLocaleString("en")} tokens. Take a part of it: this page ` +
          `reads ${longest} at most.`,
      );
    [this.ids, this.text, this.given, this.off] = [ids, text, ids.length, names];
    this.isChat = chat;
  }

  /** What `undo` goes back to: the text as it is now. */
  keep() {
    const { ids, text, given, isChat, off } = this;
    this.kept = { ids: [...ids], text, given, isChat, off };
  }

  /** Back to the text before, because a new one wasn't read to its end. */
  undo() {
    Object.assign(this, { ...this.kept, ids: [...this.kept.ids] });
  }

  /** Switch other parts off for the same tokens. */
  switch(off) {
    const names = this.#checked(off);
    this.#needText();
    this.off = names;
  }

  #needText() {
    if (this.ids.length === 0) throw new Error("Nothing has been read yet.");
  }

  /** The names of parts that the model has. */
  #checked(off) {
    const { layers, heads } = this.model.sizes;
    for (const name of off) {
      const [, mlp, layer, head] = /^(?:mlp\.(\d+)|(\d+)\.(\d+))$/.exec(name) ?? [];
      const isPart = mlp ? Number(mlp) < layers : Number(layer) < layers && Number(head) < heads;
      if (name !== "sink" && !isPart)
        throw new Error(`The model has no part “${name}” that could be switched off.`);
    }
    return new Set(off);
  }

  /** Read what isn't read yet; yields how many tokens are read. */
  *catchUp() {
    yield* this.model.read(this.cache, this.ids, this.off);
  }

  /** The same with everything on, whatever is switched off. */
  *catchUpWhole() {
    yield* this.model.read(this.caches[0], this.ids, new Set());
  }

  get isFull() {
    return this.ids.length >= this.model.longest;
  }

  /** Draws ids, one after the other from a seed; a top-p of 1 leaves nothing out. */
  writer({ temperature, topP, seed }) {
    this.#needText();
    const random = randomFrom(seed);
    const how = { temperature, topP: topP < 1 ? topP : null };
    return () => drawFrom(nextProbabilities(this.logits, how), random);
  }

  add(id) {
    this.ids.push(id);
  }

  /** Take the last token away. */
  back() {
    this.#needText();
    if (this.ids.length === 1) throw new Error("One token is left; the model needs at least one.");
    if (this.isChat && this.ids.length === this.given)
      throw new Error("The model has written nothing yet; your question in a chat stays whole.");
    this.ids.pop();
    if (this.ids.length >= this.given) return;
    this.given = this.ids.length;
    this.text = this.tokenizer.decode(this.ids);
  }

  /** All that was written behind the first `count` tokens. */
  written(count = this.given) {
    return this.tokenizer.decode(this.ids.slice(count));
  }

  /** What comes next with everything on, once that is caught up with. */
  nextOfWhole() {
    return this.next(this.caches[0].logits ?? this.logits);
  }

  /** The most probable next tokens, as pairs of a text and a probability. */
  next(logits = this.logits) {
    const best = largest(logits, SHOWN);
    const top = logits[best[0]];
    let total = 0;
    for (const logit of logits) total += Math.exp(logit - top);
    const texts = this.tokenizer.pieces(best);
    return best.map((id, i) => [texts[i], Math.exp(logits[id] - top) / total]);
  }

  /** What the page shows of the text: the fields of HeadReader.read, with bytes as they are. */
  reading() {
    const { layers, heads } = this.model.sizes;
    const places = new Map();
    this.ids.forEach((id, i) => places.has(id) || places.set(id, i));
    return {
      text: this.text + this.written(),
      tokens: this.tokenizer.pieces(this.ids),
      same: this.ids.map((id) => places.get(id)),
      ...{ layers, heads, causal: true },
      weights: this.model.weightsOf(this.cache),
      next: this.next(),
      ids: [...this.ids],
      off: [...this.off],
    };
  }
}

/** The places of the largest numbers, the largest first; of equal ones the first. */
function largest(numbers, count) {
  /** @type {number[]} */
  const best = [];
  for (let i = 0; i < numbers.length; i += 1) {
    if (best.length === count && numbers[i] <= numbers[best[count - 1]]) continue;
    let place = best.length;
    while (place > 0 && numbers[best[place - 1]] < numbers[i]) place -= 1;
    best.splice(place, 0, i);
    best.length = Math.min(best.length, count);
  }
  return best;
}
