// A transformer that can be trained: what TransformerLM computes, and each parameter's gradient.
import { add, linear, norm, rotaryTable, Scratch, turn } from "../shared/forward.js";
import { multiply, rowsOf } from "../shared/products.js";
import { activate, attend, attendBackward, linearBackward, normBackward } from "./layers.js";

/**
 * What a model is made of; its options are those of TransformerConfig.
 * @typedef {{
 *   vocabSize: number, contextLength: number, width: number, heads: number, layers: number,
 *   positions: "learned" | "rotary", norm: "layer" | "rms", activation: "gelu" | "squared_relu",
 * }} Config
 *
 * Texts whose tokens stand one behind the other; a target of -1 is none.
 * @typedef {{ start: number, length: number }} Row
 * @typedef {{ ids: Int32Array, targets: Int32Array, rows: Row[] }} Batch
 */

/**
 * The parameters' names and sizes, in the order of TransformerLM.
 * @typedef {[string, ...number[]]} Shape
 * @param {Config} config
 * @returns {Shape[]}
 */
export function shapesOf(config) {
  const { vocabSize: V, contextLength, width: C } = config;
  /** @type {(name: string) => Shape[]} */
  const both = (name) =>
    config.norm === "layer"
      ? [
          [`${name}.weight`, C],
          [`${name}.bias`, C],
        ]
      : [[`${name}.weight`, C]];
  /** @type {(layer: number) => Shape[]} */
  const block = (layer) => {
    const of = `blocks.${layer}`;
    return [
      ...both(`${of}.attention_norm`),
      [`${of}.attention.W_query.weight`, C, C],
      [`${of}.attention.W_key.weight`, C, C],
      [`${of}.attention.W_value.weight`, C, C],
      [`${of}.attention.out_proj.weight`, C, C],
      [`${of}.attention.out_proj.bias`, C],
      ...both(`${of}.mlp_norm`),
      [`${of}.mlp.0.weight`, 4 * C, C],
      [`${of}.mlp.0.bias`, 4 * C],
      [`${of}.mlp.2.weight`, C, 4 * C],
      [`${of}.mlp.2.bias`, C],
    ];
  };
  /** @type {Shape[]} */
  const positions =
    config.positions === "learned" ? [["position_embedding.weight", contextLength, C]] : [];
  return [
    ["token_embedding.weight", V, C],
    ...positions,
    ...Array.from({ length: config.layers }, (_, layer) => block(layer)).flat(),
    ...both("final_norm"),
    ["head.weight", V, C],
  ];
}

/** Numbers under the names of parameters, all in one array. */
export function numbersFor(shapes) {
  const counts = shapes.map(([, ...sizes]) => sizes.reduce((product, one) => product * one, 1));
  const data = new Float32Array(counts.reduce((sum, count) => sum + count, 0));
  const named = {};
  let at = 0;
  shapes.forEach(([name], i) => {
    named[name] = data.subarray(at, at + counts[i]);
    at += counts[i];
  });
  return { data, named };
}

/** Put texts behind each other: each one's inputs, and the targets behind them. */
export function packed(texts) {
  const rows = [];
  let start = 0;
  for (const { inputs } of texts) {
    rows.push({ start, length: inputs.length });
    start += inputs.length;
  }
  const [ids, targets] = [new Int32Array(start), new Int32Array(start)];
  texts.forEach((text, i) => {
    ids.set(text.inputs, rows[i].start);
    targets.set(text.targets, rows[i].start);
  });
  return { ids, targets, rows };
}

export class Learner {
  /** @param {Config} config */
  constructor(config) {
    this.config = config;
    this.shapes = shapesOf(config);
    this.parameters = numbersFor(this.shapes);
    this.gradients = numbersFor(this.shapes);
    this.scratch = new Scratch();
    if (config.positions === "rotary")
      this.angles = rotaryTable(config.contextLength, config.width / config.heads);
  }

  /** A layer's parameters or gradients by their short names. */
  #part(numbers, layer) {
    return (name) => numbers.named[`blocks.${layer}.${name}`];
  }

  /** An array of the forward pass, which the backward pass reads. */
  #kept(name, length) {
    return this.scratch.take(name, length);
  }

  /**
   * Read a batch.
   * @param {Batch} batch
   * @returns the probabilities (N, V) of the characters behind each token, and for each token the
   *   nats that its target costs, 0 where there is none. They stand until the next batch.
   */
  read(batch) {
    const { vocabSize: V, width: C } = this.config;
    const N = batch.ids.length;
    const { named } = this.parameters;
    let x = this.#embed(batch, N);
    for (let layer = 0; layer < this.config.layers; layer += 1)
      x = this.#block(layer, x, batch.rows, N);
    const last = this.#norm("final_norm", named, x, "final", N);
    const logits = this.#kept("probabilities", N * V);
    multiply(rowsOf(last, C), rowsOf(named["head.weight"], C), rowsOf(logits, V), N, V, C);
    const losses = this.#kept("losses", N);
    for (let n = 0; n < N; n += 1) losses[n] = probabilities(logits, n * V, V, batch.targets[n]);
    return { probabilities: logits, losses };
  }

  #embed({ ids, rows }, N) {
    const { width: C } = this.config;
    const tokens = this.parameters.named["token_embedding.weight"];
    const positions = this.parameters.named["position_embedding.weight"];
    const x = this.#kept("x 0", N * C);
    for (const { start, length } of rows)
      for (let t = 0; t < length; t += 1) {
        const [at, from] = [(start + t) * C, ids[start + t] * C];
        for (let i = 0; i < C; i += 1)
          x[at + i] = tokens[from + i] + (positions ? positions[t * C + i] : 0);
      }
    return x;
  }

  #norm(name, named, x, keep, N) {
    const { width: C } = this.config;
    const read = this.#kept(`${keep} read`, N * C);
    const kept = this.#keptNorm(keep, N);
    norm(x, named[`${name}.weight`], named[`${name}.bias`], kept, read, N, C);
    return read;
  }

  #keptNorm(keep, N) {
    return {
      normal: this.#kept(`${keep} normal`, N * this.config.width),
      scale: this.#kept(`${keep} scale`, N),
    };
  }

  /** What a layer's attention keeps for the way back. */
  #keptAttention(layer, rows, N) {
    const { width: C, heads } = this.config;
    const squares = rows.reduce((sum, { length }) => sum + length * length, 0);
    const kept = (name, length) => this.#kept(`${name} ${layer}`, length);
    return {
      queries: kept("queries", N * C),
      keys: kept("keys", N * C),
      values: kept("values", N * C),
      weights: kept("weights", squares * heads),
      context: kept("context", N * C),
    };
  }

  #block(layer, x, rows, N) {
    const { width: C, heads, activation } = this.config;
    const { named } = this.parameters;
    const part = this.#part(this.parameters, layer);
    const read = this.#norm(`blocks.${layer}.attention_norm`, named, x, `attention ${layer}`, N);
    const kept = this.#keptAttention(layer, rows, N);
    linear(read, part("attention.W_query.weight"), null, kept.queries, N, C, C);
    linear(read, part("attention.W_key.weight"), null, kept.keys, N, C, C);
    linear(read, part("attention.W_value.weight"), null, kept.values, N, C, C);
    if (this.angles)
      for (const one of [kept.queries, kept.keys]) turn(one, this.angles, rows, C, C / heads, 1);
    attend(this.scratch, kept, rows, C, heads);
    const middle = this.#kept(`middle ${layer}`, N * C);
    const [outWeight, outBias] = ["weight", "bias"].map((one) => part(`attention.out_proj.${one}`));
    linear(kept.context, outWeight, outBias, middle, N, C, C);
    add(middle, x, N * C);

    const second = this.#norm(`blocks.${layer}.mlp_norm`, named, middle, `mlp ${layer}`, N);
    const hidden = this.#kept(`hidden ${layer}`, N * 4 * C);
    linear(second, part("mlp.0.weight"), part("mlp.0.bias"), hidden, N, C, 4 * C);
    activate(activation, hidden, this.#kept(`slope ${layer}`, N * 4 * C), N * 4 * C);
    const result = this.#kept(`x ${layer + 1}`, N * C);
    linear(hidden, part("mlp.2.weight"), part("mlp.2.bias"), result, N, 4 * C, C);
    add(result, middle, N * C);
    return result;
  }

  /**
   * Read a batch, and find the gradient of its mean loss for every parameter.
   * @param {Batch} batch
   * @returns {number} the loss in nats per character
   */
  learnFrom(batch) {
    const { vocabSize: V, width: C } = this.config;
    const N = batch.ids.length;
    const { probabilities: ofLogits, losses } = this.read(batch);
    const count = batch.targets.reduce((sum, target) => sum + (target < 0 ? 0 : 1), 0);
    let loss = 0;
    for (let n = 0; n < N; n += 1) {
      const target = batch.targets[n];
      loss += losses[n] / count;
      if (target < 0) ofLogits.fill(0, n * V, (n + 1) * V);
      else ofLogits[n * V + target] -= 1;
    }
    for (let i = 0; i < N * V; i += 1) ofLogits[i] /= count;

    const { named } = this.parameters;
    const ofRead = this.#cleared("of read", N * C);
    const ofX = this.#cleared("of x", N * C);
    linearBackward(
      this.scratch,
      { of: ofLogits, weight: this.gradients.named["head.weight"], x: ofRead },
      this.#kept("final read", N * C),
      named["head.weight"],
      N,
      C,
      V,
    );
    this.#normBackward("final_norm", "final", ofRead, ofX, N);
    for (let layer = this.config.layers - 1; layer >= 0; layer -= 1)
      this.#blockBackward(layer, ofX, batch.rows, N);
    this.#embedBackward(batch, ofX);
    return loss;
  }

  #cleared(name, length) {
    return this.#kept(name, length).fill(0, 0, length);
  }

  #normBackward(name, keep, arriving, ofX, N) {
    const of = (numbers, part) => numbers.named[`${name}.${part}`];
    normBackward(
      {
        of: arriving,
        weight: of(this.gradients, "weight"),
        bias: of(this.gradients, "bias"),
        x: ofX,
      },
      of(this.parameters, "weight"),
      this.#keptNorm(keep, N),
      N,
      this.config.width,
    );
  }

  /** `ofX` arrives at the block's result, and becomes the gradient of its input. */
  #blockBackward(layer, ofX, rows, N) {
    const { width: C, heads } = this.config;
    const parameters = this.#part(this.parameters, layer);
    const gradients = this.#part(this.gradients, layer);
    const back = (name, of, x, into, inputs, outputs) =>
      linearBackward(
        this.scratch,
        { of, weight: gradients(`${name}.weight`), bias: gradients(`${name}.bias`), x: into },
        x,
        parameters(`${name}.weight`),
        N,
        inputs,
        outputs,
      );
    const ofHidden = this.#cleared("of hidden", N * 4 * C);
    back("mlp.2", ofX, this.#kept(`hidden ${layer}`, N * 4 * C), ofHidden, 4 * C, C);
    const slope = this.#kept(`slope ${layer}`, N * 4 * C);
    for (let i = 0; i < N * 4 * C; i += 1) ofHidden[i] *= slope[i];
    let ofRead = this.#cleared("of read", N * C);
    back("mlp.0", ofHidden, this.#kept(`mlp ${layer} read`, N * C), ofRead, C, 4 * C);
    this.#normBackward(`blocks.${layer}.mlp_norm`, `mlp ${layer}`, ofRead, ofX, N);

    const kept = this.#keptAttention(layer, rows, N);
    const of = this.#cleared("of context", N * C);
    back("attention.out_proj", ofX, kept.context, of, C, C);
    const [queries, keys, values] = ["queries", "keys", "values"].map((one) =>
      this.#kept(`of ${one}`, N * C),
    );
    const { scratch } = this;
    attendBackward(scratch, { of, queries, keys, values }, kept, rows, C, heads);
    if (this.angles)
      for (const one of [queries, keys]) turn(one, this.angles, rows, C, C / heads, -1);
    const read = this.#kept(`attention ${layer} read`, N * C);
    ofRead = this.#cleared("of read", N * C);
    back("attention.W_query", queries, read, ofRead, C, C);
    back("attention.W_key", keys, read, ofRead, C, C);
    back("attention.W_value", values, read, ofRead, C, C);
    this.#normBackward(`blocks.${layer}.attention_norm`, `attention ${layer}`, ofRead, ofX, N);
  }

  #embedBackward({ ids, rows }, ofX) {
    const { width: C } = this.config;
    const ofTokens = this.gradients.named["token_embedding.weight"].fill(0);
    const ofPositions = this.gradients.named["position_embedding.weight"]?.fill(0);
    for (const { start, length } of rows)
      for (let t = 0; t < length; t += 1)
        for (let i = 0; i < C; i += 1) {
          const arriving = ofX[(start + t) * C + i];
          ofTokens[ids[start + t] * C + i] += arriving;
          if (ofPositions) ofPositions[t * C + i] += arriving;
        }
  }

  /** One head's attention weights over the last batch's first text, as rows. */
  weightsOf(layer, head, length) {
    const weights = this.#kept(`weights ${layer}`, 0);
    return Array.from({ length }, (_, t) =>
      Array.from(weights.subarray(head * length * length).subarray(t * length, (t + 1) * length)),
    );
  }
}

/** Logits in place become probabilities; returns the nats that the target costs. */
function probabilities(numbers, at, V, target) {
  let top = -Infinity;
  for (let i = 0; i < V; i += 1) top = Math.max(top, numbers[at + i]);
  const logit = target < 0 ? 0 : numbers[at + target] - top;
  let total = 0;
  for (let i = 0; i < V; i += 1) {
    numbers[at + i] = Math.exp(numbers[at + i] - top);
    total += numbers[at + i];
  }
  for (let i = 0; i < V; i += 1) numbers[at + i] /= total;
  return target < 0 ? 0 : Math.log(total) - logit;
}
