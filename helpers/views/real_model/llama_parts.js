// What a file holds of a Llama: its sizes, and its tensors, each of the size that it must have.
/** @import { Gguf, Stored } from "./gguf.js" */
/** @import { Products } from "./quantised.js" */

/**
 * @typedef {{
 *   layers: number, heads: number, keyValueHeads: number, width: number, hidden: number,
 *   vocabulary: number, contextLength: number, smallest: number, rotaryBase: number,
 * }} Sizes
 */

/**
 * What the file says of the model, if it is one that is computed here.
 * @param {Gguf} file
 * @returns {Sizes}
 */
export function sizesOf({ metadata, tensors }) {
  const architecture = metadata.get("general.architecture");
  if (architecture !== "llama")
    throw new Error(
      `The file holds a model of another architecture than Llama: ${architecture ?? "unknown"}.`,
    );
  const setting = (name) => {
    const value = metadata.get(`llama.${name}`);
    if (typeof value !== "number" || !(value > 0))
      throw new Error(`The file lacks the model's ${name}, or it isn't a positive number.`);
    return value;
  };
  const [width, heads] = [setting("embedding_length"), setting("attention.head_count")];
  const keyValueHeads = setting("attention.head_count_kv");
  if (width % heads || (width / heads) % 2 || heads % keyValueHeads)
    throw new Error(
      `The model's ${heads} heads and ${keyValueHeads} key and value heads don't share its width ` +
        `of ${width} equally.`,
    );
  const scaling = metadata.get("llama.rope.scaling.type") ?? "none";
  if (setting("rope.dimension_count") !== width / heads || scaling !== "none")
    throw new Error("The model has other rotary positions than this page computes.");
  const embedding = tensors.get("token_embd.weight");
  if (!embedding) throw new Error("The file lacks the tensor token_embd.weight.");
  return {
    ...{ width, heads, keyValueHeads, layers: setting("block_count") },
    hidden: setting("feed_forward_length"),
    vocabulary: embedding.rows,
    contextLength: setting("context_length"),
    smallest: setting("attention.layer_norm_rms_epsilon"),
    rotaryBase: setting("rope.freq_base"),
  };
}

/**
 * The tensors, each of the size that it must have.
 * @param {Map<string, Stored>} tensors
 * @param {Sizes} sizes
 * @param {Products} products
 */
export function partsOf(tensors, sizes, products) {
  const { layers, width: C, hidden, vocabulary, heads, keyValueHeads } = sizes;
  const shared = (C / heads) * keyValueHeads;
  const left = new Set(tensors.keys());
  const matrix = (name, rows, columns) => {
    const found = tensors.get(name);
    if (!found) throw new Error(`The file lacks the tensor ${name}.`);
    if (found.rows !== rows || found.columns !== columns)
      throw new Error(
        `The tensor ${name} should have ${rows} rows of ${columns} numbers, and it has ` +
          `${found.rows} of ${found.columns}.`,
      );
    left.delete(name);
    return found;
  };
  const vector = (name) => {
    const stored = matrix(name, 1, C);
    const numbers = new Float32Array(C);
    products.row(stored, 0, numbers);
    return numbers;
  };
  const block = (layer) => {
    const of = (name, rows, columns) => matrix(`blk.${layer}.${name}.weight`, rows, columns);
    return {
      attentionNorm: vector(`blk.${layer}.attn_norm.weight`),
      query: of("attn_q", C, C),
      key: of("attn_k", shared, C),
      value: of("attn_v", shared, C),
      out: of("attn_output", C, C),
      mlpNorm: vector(`blk.${layer}.ffn_norm.weight`),
      gate: of("ffn_gate", hidden, C),
      up: of("ffn_up", hidden, C),
      down: of("ffn_down", C, hidden),
    };
  };
  const embedding = matrix("token_embd.weight", vocabulary, C);
  const parts = {
    embedding,
    blocks: Array.from({ length: layers }, (_, layer) => block(layer)),
    finalNorm: vector("output_norm.weight"),
    head: tensors.has("output.weight") ? matrix("output.weight", vocabulary, C) : embedding,
  };
  for (const name of left)
    throw new Error(`The file has a tensor that this page's Llama doesn't use: ${name}.`);
  return parts;
}
