// A Llama that reads tokens and keeps keys and values: RMSNorm, rotary positions, queries that
// share keys and values in groups, SwiGLU. Its matrices stay as the file holds them.
import { add, norm, rotaryTable, Scratch, softmaxRow, turn } from "../shared/forward.js";
import { multiply, partOf, rowsOf } from "../shared/products.js";
import { partsOf, sizesOf } from "./llama_parts.js";
/** @import { Gguf } from "./gguf.js" */
/** @import { Products } from "./quantised.js" */

const BATCH = 16; // tokens that are read together, so that a weight is unpacked once for them

/**
 * What was read: its ids; for each layer the keys, row by row, and the values, column by column;
 * for each head of each layer its weights in 8 bits, row t with t + 1 of them; and the logits of
 * the last token. `off` names what is switched off: a head as "layer.head", a layer's MLP as
 * "mlp.layer", and "sink", the first token, for all later ones.
 * @typedef {{
 *   ids: number[], off: Set<string>, keys: Float32Array, values: Float32Array,
 *   weights: Uint8Array, logits: Float32Array | null,
 * }} Cache
 */

/** How many weights a head has that reads `length` tokens. */
export const triangle = (length) => (length * (length + 1)) / 2;

export class Llama {
  /**
   * @param {Gguf} file
   * @param {Products} products
   * @param {number} longest the most tokens that it will read
   */
  constructor(file, products, longest) {
    this.sizes = sizesOf(file);
    this.products = products;
    this.longest = Math.min(longest, this.sizes.contextLength);
    this.parts = partsOf(file.tensors, this.sizes, products);
    const { width, heads, rotaryBase } = this.sizes;
    this.angles = rotaryTable(this.longest, width / heads, rotaryBase);
    this.scratch = new Scratch();
  }

  /** @returns {Cache} */
  newCache() {
    const { layers, heads, width, keyValueHeads } = this.sizes;
    // One array for all layers: memory of a large one is taken only as it is filled.
    const numbers = () => new Float32Array(layers * this.longest * (width / heads) * keyValueHeads);
    return {
      ...{ ids: [], off: new Set(), keys: numbers(), values: numbers(), logits: null },
      weights: new Uint8Array(layers * heads * triangle(this.longest)),
    };
  }

  /** The weights of all heads over what was read, without gaps. */
  weightsOf(cache) {
    const { layers, heads } = this.sizes;
    const [size, room] = [triangle(cache.ids.length), triangle(this.longest)];
    const weights = new Uint8Array(layers * heads * size);
    for (let i = 0; i < layers * heads; i += 1)
      weights.set(cache.weights.subarray(i * room, i * room + size), i * size);
    return weights;
  }

  /**
   * Make a cache hold exactly these ids, read with these parts off, and the last one's logits; what
   * it holds of them already isn't read again. Between batches it yields how many are read.
   * @param {Cache} cache
   * @param {number[]} ids
   * @param {Set<string>} off
   * @returns {Generator<number, void>}
   */
  *read(cache, ids, off) {
    const same = cache.off.size === off.size && [...off].every((one) => cache.off.has(one));
    let kept = 0;
    if (same) while (kept < cache.ids.length && cache.ids[kept] === ids[kept]) kept += 1;
    if (kept === ids.length && !(cache.logits && cache.ids.length === kept)) kept -= 1;
    cache.ids.length = kept;
    cache.off = new Set(off);
    while (cache.ids.length < ids.length) {
      this.#readBatch(cache, ids.slice(cache.ids.length, cache.ids.length + BATCH));
      if (cache.ids.length === ids.length) this.#predict(cache);
      else yield cache.ids.length;
    }
  }

  #taken(name, length) {
    return this.scratch.take(name, length);
  }

  /** Read a few tokens behind those in the cache; the last one's vector is kept. */
  #readBatch(cache, ids) {
    const { width: C, hidden } = this.sizes;
    const { products } = this;
    const N = ids.length;
    const x = this.#taken("x", N * C);
    ids.forEach((id, n) => products.row(this.parts.embedding, id, x, n * C));
    const [more, read] = [this.#taken("more", N * C), this.#taken("read", N * C)];
    this.parts.blocks.forEach((block, layer) => {
      this.#norm(x, block.attentionNorm, read, N);
      const context = this.#attend(cache, layer, read, N);
      products.multiply(block.out, context, more, N);
      add(x, more, N * C);
      if (cache.off.has(`mlp.${layer}`)) return;
      this.#norm(x, block.mlpNorm, read, N);
      const [gate, up] = ["gate", "up"].map((name) => this.#taken(name, N * hidden));
      products.multiply(block.gate, read, gate, N);
      products.multiply(block.up, read, up, N);
      for (let i = 0; i < N * hidden; i += 1) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
      products.multiply(block.down, gate, more, N);
      add(x, more, N * C);
    });
    cache.ids.push(...ids);
    cache.logits = null; // those were of another token
    this.#taken("last", C).set(x.subarray((N - 1) * C, N * C));
  }

  #norm(x, weight, y, N) {
    const { width: C, smallest } = this.sizes;
    const kept = { normal: this.#taken("normal", N * C), scale: this.#taken("scale", N) };
    norm(x, weight, null, kept, y, N, C, smallest);
  }

  /** The logits behind the token that was read last. */
  #predict(cache) {
    const { width: C, vocabulary } = this.sizes;
    const read = this.#taken("read", C);
    this.#norm(this.#taken("last", C), this.parts.finalNorm, read, 1);
    cache.logits = new Float32Array(vocabulary);
    this.products.multiply(this.parts.head, read, cache.logits, 1);
  }

  /** A layer's context for N new tokens, whose keys and values go into the cache. */
  #attend(cache, layer, read, N) {
    const { width: C, heads, keyValueHeads } = this.sizes;
    const { products, longest } = this;
    const block = this.parts.blocks[layer];
    const D = C / heads;
    const shared = D * keyValueHeads;
    const from = cache.ids.length;
    const queries = this.#taken("queries", N * C);
    const [newKeys, newValues] = ["keys", "values"].map((name) => this.#taken(name, N * shared));
    products.multiply(block.query, read, queries, N);
    products.multiply(block.key, read, newKeys, N);
    products.multiply(block.value, read, newValues, N);
    const rows = [{ start: 0, length: N, position: from }];
    turn(queries, this.angles, rows, C, D, 1, true);
    turn(newKeys, this.angles, rows, shared, D, 1, true);
    const { keys, values } = cache;
    const start = layer * longest * shared; // of this layer's
    keys.set(newKeys.subarray(0, N * shared), start + from * shared);
    for (let n = 0; n < N; n += 1)
      for (let i = 0; i < shared; i += 1)
        values[start + i * longest + from + n] = newValues[n * shared + i];

    const context = this.#taken("context", N * C).fill(0, 0, N * C);
    for (let head = 0; head < heads; head += 1) {
      const group = Math.floor(head / (heads / keyValueHeads)) * D;
      const asking = partOf(rowsOf(queries, C), 0, head * D);
      const asked = { data: keys, at: start + group, stride: shared };
      const weights = this.#weights(asking, asked, cache, N);
      this.#keep(cache, layer * heads + head, weights, N);
      if (cache.off.has(`${layer}.${head}`)) continue;
      const theirs = { data: values, at: start + group * longest, stride: longest };
      multiply(weights, theirs, partOf(rowsOf(context, C), 0, head * D), N, D, from + N);
    }
    return context;
  }

  /** A head's weights (N, tokens read so far). */
  #weights(queries, keys, cache, N) {
    const { width, heads } = this.sizes;
    const [D, from] = [width / heads, cache.ids.length];
    const S = from + N;
    const weights = rowsOf(this.#taken("weights", N * S), S);
    multiply(queries, keys, weights, N, S, D);
    for (let n = 0; n < N; n += 1) {
      if (from + n > 0 && cache.off.has("sink")) weights.data[n * S] = -Infinity;
      softmaxRow(weights.data, n * S, from + n + 1, S, D);
    }
    return weights;
  }

  /** Keep a head's weights in 8 bits. */
  #keep(cache, place, { data, stride }, N) {
    const from = cache.ids.length;
    const start = place * triangle(this.longest);
    for (let n = 0; n < N; n += 1) {
      const row = start + triangle(from + n);
      for (let s = 0; s <= from + n; s += 1)
        cache.weights[row + s] = Math.round(255 * data[n * stride + s]);
    }
  }
}
