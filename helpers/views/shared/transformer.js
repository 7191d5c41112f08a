// A small transformer that reads one character at a time and keeps keys and values: learned
// positions, LayerNorm before each layer, GELU. It computes what TransformerLM computes.
import { halfToNumber } from "./float16.js";
import { linear, norm } from "./forward.js";
import { normalBelow, softmax } from "./mathematics.js";

const SCALES = ".scales";

/**
 * The tensors by name. `shapes` lists [name, ...sizes] in the order in which `bytes` holds them: a
 * matrix is 8-bit whole numbers, and stands for them times one 16-bit scale a row; all else is
 * 16-bit floats.
 */
function decode(shapes, bytes) {
  const view = new DataView(bytes.buffer);
  const named = {};
  let start = 0;
  for (const [name, ...sizes] of shapes) {
    const count = sizes.reduce((product, one) => product * one, 1);
    const width = sizes.length === 2 ? 1 : 2;
    const at = start;
    named[name] = Float32Array.from({ length: count }, (_, i) =>
      width === 1 ? view.getInt8(at + i) : halfToNumber(view.getUint16(at + 2 * i, true)),
    );
    start += width * count;
  }
  for (const [name, , columns] of shapes)
    if (columns !== undefined)
      named[name] = named[name].map(
        (whole, i) => whole * named[name + SCALES][Math.floor(i / columns)],
      );
  return named;
}

/** y = weight x + bias; the weight is stored row by row. */
function product(weight, x, bias) {
  const y = new Float32Array(weight.length / x.length);
  linear(x, weight, bias, y, 1, x.length, y.length);
  return y;
}

function layerNorm(x, weight, bias) {
  const y = new Float32Array(x.length);
  const kept = { normal: new Float32Array(x.length), scale: [0] };
  norm(x, weight, bias, kept, y, 1, x.length);
  return y;
}

/** x times the probability that a standard normal number is below x. */
export function gelu(x) {
  return x * normalBelow(x, Math.exp((-x * x) / 2));
}

/**
 * The model: `config` has contextLength, width, heads, layers; `weights` are the bytes of the
 * tensors that `shapes` lists, in base64.
 */
export function transformer({ config, shapes, weights }) {
  const bytes = Uint8Array.from(atob(weights), (character) => character.charCodeAt(0));
  const named = decode(shapes, bytes);
  const { contextLength, width, heads, layers } = config;
  const headDim = width / heads;

  /** What the model has read: for each layer its keys and values. */
  const newCache = () => ({
    ids: [],
    layers: Array.from({ length: layers }, () => ({ keys: [], values: [] })),
  });

  /** One head's context, and its weights over all that was read. */
  const attend = (query, { keys, values }, head) => {
    const from = head * headDim;
    const scores = keys.map((key) => {
      let score = 0;
      for (let i = from; i < from + headDim; i += 1) score += query[i] * key[i];
      return score / Math.sqrt(headDim);
    });
    const row = softmax(scores);
    const context = new Float32Array(headDim);
    values.forEach((value, s) => {
      for (let i = 0; i < headDim; i += 1) context[i] += row[s] * value[from + i];
    });
    return { context, row };
  };

  const add = (x, update) => x.map((number, i) => number + update[i]);

  /** Read one more character: its logits, and each layer's and head's weights. */
  const step = (cache, id, off) => {
    const position = cache.ids.length;
    cache.ids.push(id);
    const rows = [];
    const row = (name, i) => named[name].slice(i * width, (i + 1) * width);
    let x = add(row("token_embedding.weight", id), row("position_embedding.weight", position));
    for (let layer = 0; layer < layers; layer += 1) {
      const part = (name) => named[`blocks.${layer}.${name}`];
      const norm = (name, y) => layerNorm(y, part(`${name}.weight`), part(`${name}.bias`));
      const read = norm("attention_norm", x);
      const query = product(part("attention.W_query.weight"), read);
      cache.layers[layer].keys.push(product(part("attention.W_key.weight"), read));
      cache.layers[layer].values.push(product(part("attention.W_value.weight"), read));
      const context = new Float32Array(width);
      rows.push(
        Array.from({ length: heads }, (_, head) => {
          const found = attend(query, cache.layers[layer], head);
          if (!off.has(`${layer}.${head}`)) context.set(found.context, head * headDim);
          return found.row;
        }),
      );
      x = add(
        x,
        product(part("attention.out_proj.weight"), context, part("attention.out_proj.bias")),
      );
      const hidden = product(part("mlp.0.weight"), norm("mlp_norm", x), part("mlp.0.bias"));
      x = add(x, product(part("mlp.2.weight"), hidden.map(gelu), part("mlp.2.bias")));
    }
    const last = layerNorm(x, named["final_norm.weight"], named["final_norm.bias"]);
    return { logits: product(named["head.weight"], last), rows };
  };

  /**
   * Read characters after those in the cache; returns the last one's logits and, for each
   * character read, each layer's and head's weights. A full context starts anew from its last
   * `contextLength` characters. `off` names heads that add nothing, as "layer.head".
   */
  const read = (cache, ids, off = new Set()) => {
    let logits = new Float32Array();
    const maps = [];
    for (const id of ids) {
      if (cache.ids.length === contextLength) {
        const kept = cache.ids.slice(1);
        Object.assign(cache, newCache());
        maps.length = 0;
        for (const one of kept) maps.push(step(cache, one, off).rows);
      }
      const result = step(cache, id, off);
      logits = result.logits;
      maps.push(result.rows);
    }
    return { logits, maps };
  };

  return { newCache, read, contextLength, layers, heads };
}
