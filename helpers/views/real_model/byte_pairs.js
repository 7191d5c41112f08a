// Byte-pair encoding of bytes, as GPT-2 has it and SmolLM2 uses it: each digit is a token.
/** @import { Gguf } from "./gguf.js" */

const CONTROL = 3; // GGUF's mark of a special token
// What is never merged across: a digit; and GPT-2's pieces of what stands between digits, with
// Unicode's own white space.
const DIGIT_OR_NONE = /\p{N}|\P{N}+/gu;
const PIECE = new RegExp(
  [
    "'s|'t|'re|'ve|'m|'ll|'d",
    " ?\\p{L}+",
    " ?[^\\p{White_Space}\\p{L}]+",
    "\\p{White_Space}+(?!\\P{White_Space})",
    "\\p{White_Space}+",
  ].join("|"),
  "gu",
);
const NEVER = 2 ** 31 - 1; // the rank of a pair that isn't merged
// What stands first in a chat, unless its writer says something else.
const SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

/** The character that GPT-2 writes for each byte: its own where one can see it. */
function byteCharacters() {
  const seen = (byte) => (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(seen(byte) ? byte : next++));
}

export class BytePairs {
  /**
   * @param {Gguf["metadata"]} metadata
   * @param {number} vocabulary how many tokens the model knows
   */
  constructor(metadata, vocabulary) {
    const needed = (name) => {
      const value = metadata.get(`tokenizer.ggml.${name}`);
      if (value === undefined) throw new Error(`The file lacks its tokenizer's ${name}.`);
      return value;
    };
    const kind = [metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre")];
    if (kind[0] !== "gpt2" || kind[1] !== "smollm")
      throw new Error(
        `The file has another tokenizer than SmolLM's: ${kind[0] ?? "none"}, ${kind[1] ?? "none"}.`,
      );
    /** @type {string[]} */
    this.tokens = needed("tokens");
    if (this.tokens.length !== vocabulary)
      throw new Error(
        `The model knows ${vocabulary} tokens, and the file's tokenizer ${this.tokens.length}.`,
      );
    this.ids = new Map(this.tokens.map((token, id) => [token, id]));
    const characters = byteCharacters();
    this.byteOf = new Map(characters.map((character, byte) => [character, byte]));
    /** For each byte its token; -1 where there is none, and the byte vanishes. */
    this.idOfByte = Int32Array.from(characters, (one) => this.ids.get(one) ?? -1);
    const kinds = needed("token_type");
    this.special = new Set(this.tokens.map((_, id) => id).filter((id) => kinds[id] === CONTROL));
    const merges = needed("merges");
    /** From a pair of ids, as one number, to the rank of its merge; and what each becomes. */
    this.ranks = new Map();
    this.merged = new Int32Array(merges.length);
    merges.forEach((merge, rank) => {
      const [left, right] = merge.split(" ");
      this.ranks.set(this.#pair(this.idOf(left), this.idOf(right)), rank);
      this.merged[rank] = this.idOf(left + right);
    });
    this.encoder = new TextEncoder();
  }

  idOf(token) {
    const id = this.ids.get(token);
    if (id === undefined) throw new Error(`The file's tokenizer lacks the token ${token}.`);
    return id;
  }

  #pair(left, right) {
    return left * this.tokens.length + right;
  }

  /**
   * A text's ids; nothing in it becomes a special token.
   * @param {string} text
   * @returns {number[]}
   */
  encode(text) {
    if (/\p{Surrogate}/u.test(text)) throw new Error("The text holds half a character.");
    const ids = [];
    for (const run of text.match(DIGIT_OR_NONE) ?? [])
      for (const piece of run.match(PIECE) ?? []) ids.push(...this.#merged(piece));
    const special = ids.find((id) => this.special.has(id));
    if (special !== undefined)
      throw new Error(`The text would turn into the special token ${this.tokens[special]}.`);
    return ids;
  }

  /** A chat of one message, as the model was trained to read it, up to its answer. */
  encodeChat(text) {
    const [opening, closing] = [this.idOf("<|im_start|>"), this.idOf("<|im_end|>")];
    const message = (role, said) => [
      opening,
      ...this.encode(`${role}\n${said}`),
      closing,
      ...this.encode("\n"),
    ];
    return [
      ...message("system", SYSTEM),
      ...message("user", text),
      opening,
      ...this.encode("assistant\n"),
    ];
  }

  /** A piece's ids: again and again the first pair of the lowest rank is merged. */
  #merged(piece) {
    const ids = Array.from(this.encoder.encode(piece), (byte) => this.idOfByte[byte]).filter(
      (id) => id >= 0,
    );
    const rankOf = (i) =>
      i + 1 < ids.length ? (this.ranks.get(this.#pair(ids[i], ids[i + 1])) ?? NEVER) : NEVER;
    const ranks = ids.map((_, i) => rankOf(i)); // of each token with the one behind it
    for (;;) {
      let best = 0;
      for (let i = 1; i < ranks.length; i += 1) if (ranks[i] < ranks[best]) best = i;
      if (!(ranks[best] < NEVER)) return ids;
      ids[best] = this.merged[ranks[best]];
      ids.splice(best + 1, 1);
      ranks.splice(best + 1, 1);
      ranks[best] = rankOf(best);
      if (best > 0) ranks[best - 1] = rankOf(best - 1);
    }
  }

  /** The bytes of tokens, one behind the other. */
  #bytes(ids) {
    return Uint8Array.from(
      ids.flatMap((id) => [...this.tokens[id]].map((one) => this.byteOf.get(one))),
    );
  }

  /** What each token stands for, alone; what is no whole character is a �. */
  pieces(ids) {
    return ids.map((id) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#bytes([id])));
  }

  /** The text of tokens, without the last character where it isn't whole. */
  decode(ids) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.#bytes(ids), { stream: true });
  }
}
