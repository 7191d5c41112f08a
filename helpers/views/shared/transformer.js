// A small transformer that reads one character at a time and keeps keys and values: rotary
// positions, RMSNorm before each layer, squared ReLU. It computes what TransformerLM computes.

/** 16-bit floats in base64 as numbers. */
export function decodeHalf(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const halves = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) =>
    halfToNumber(halves.getUint16(2 * i, true)),
  );
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** y = weight x + bias; the weight is stored row by row. */
function linear(weight, x, bias) {
  const width = x.length;
  const y = new Float32Array(weight.length / width);
  for (let row = 0, at = 0; row < y.length; row += 1) {
    let total = bias ? bias[row] : 0;
    for (let column = 0; column < width; column += 1, at += 1) total += weight[at] * x[column];
    y[row] = total;
  }
  return y;
}

function rmsNorm(x, weight) {
  let square = 0;
  for (const number of x) square += number * number;
  const scale = 1 / Math.sqrt(square / x.length + 1e-5);
  return x.map((number, i) => number * scale * weight[i]);
}

/** Turn each pair of features (i, i + D / 2) of every head by the angle of its position. */
function rotary(x, position, headDim) {
  const half = headDim / 2;
  const turned = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += headDim) {
    for (let i = 0; i < half; i += 1) {
      const angle = position * 10000 ** (-i / half);
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      const [first, second] = [x[start + i], x[start + i + half]];
      turned[start + i] = first * cosine - second * sine;
      turned[start + i + half] = first * sine + second * cosine;
    }
  }
  return turned;
}

/**
 * The model: `config` has contextLength, width, heads, layers; `shapes` lists [name, ...sizes] in
 * the order in which `weights` holds their numbers.
 */
export function transformer({ config, shapes, weights }) {
  const numbers = decodeHalf(weights);
  const named = {};
  let start = 0;
  for (const [name, ...sizes] of shapes) {
    const size = sizes.reduce((product, one) => product * one, 1);
    named[name] = numbers.subarray(start, start + size);
    start += size;
  }
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
    const top = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - top));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const row = powers.map((power) => power / total);
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
    let x = named["token_embedding.weight"].slice(id * width, (id + 1) * width);
    for (let layer = 0; layer < layers; layer += 1) {
      const part = (name) => named[`blocks.${layer}.${name}`];
      const read = rmsNorm(x, part("attention_norm.weight"));
      const query = rotary(linear(part("attention.W_query.weight"), read), position, headDim);
      cache.layers[layer].keys.push(
        rotary(linear(part("attention.W_key.weight"), read), position, headDim),
      );
      cache.layers[layer].values.push(linear(part("attention.W_value.weight"), read));
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
        linear(part("attention.out_proj.weight"), context, part("attention.out_proj.bias")),
      );
      const hidden = linear(
        part("mlp.0.weight"),
        rmsNorm(x, part("mlp_norm.weight")),
        part("mlp.0.bias"),
      );
      const bent = hidden.map((number) => (number > 0 ? number * number : 0));
      x = add(x, linear(part("mlp.2.weight"), bent, part("mlp.2.bias")));
    }
    return { logits: linear(named["head.weight"], rmsNorm(x, named["final_norm.weight"])), rows };
  };

  /**
   * Read characters behind those in the cache; returns the last one's logits and, for each
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
