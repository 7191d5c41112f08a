// A trained model as a file, in the format of helpers.models.model_file: eight bytes with the
// length of a header, the header as JSON, and float32 numbers.
import { numbersFor, shapesOf } from "./learner.js";

const FILE_FORMAT = "attention-one-step model 1";
const LENGTH_BYTES = 8;
const MOST_HEADER = 1 << 20; // bytes; a header with four layers has about six thousand
const LARGEST_SIZES = { vocabSize: 200, contextLength: 256, width: 128, heads: 16, layers: 4 };
const OPTION_CHOICES = {
  positions: ["learned", "rotary"],
  norm: ["layer", "rms"],
  activation: ["gelu", "squared_relu"],
};
/** The page's names of options, TransformerConfig's, and what a message calls the sizes. */
const OPTION_NAMES = {
  vocabSize: ["vocab_size", "number of characters"],
  contextLength: ["context_length", "context length"],
  width: ["d_model", "width"],
  heads: ["num_heads", "number of heads"],
  layers: ["num_layers", "number of layers"],
  positions: ["positions"],
  norm: ["norm"],
  activation: ["activation"],
};
/** TransformerConfig's other options, which have one value here. */
const FIXED_OPTIONS = {
  dropout: 0,
  pair_embedding: false,
  residual: true,
  mlp: true,
  mlp_ratio: 4,
  tie_weights: false,
  qkv_bias: false,
  num_kv_heads: null,
  qk_norm: false,
  embedding_skip: false,
  zero_init: false,
  window: null,
  sinks: 0,
  rotary_base: 10000,
  norm_eps: 1e-5,
  mlp_hidden: null,
  bias: true,
  norm_first: true,
  causal: true,
  attention: "softmax",
  full_attention_interval: null,
  convolution: 1,
  rotary_fraction: 1,
  rotary_scaling: "none",
  rotary_scaling_factor: 1,
  trained_length: null,
  no_rope_interval: null,
  t5_buckets: 32,
  t5_max_distance: 128,
  attention_gate: false,
  global_interval: null,
};

/**
 * A model as a file.
 * @param {Parameters<typeof shapesOf>[0]} config
 * @param {string | string[]} alphabet
 * @param {ReturnType<typeof shapesOf>} shapes
 * @param {Record<string, Float32Array>} named
 * @returns {Uint8Array}
 */
export function written(config, alphabet, shapes, named) {
  const options = Object.entries(OPTION_NAMES).map(([ours, [theirs]]) => [theirs, config[ours]]);
  const characters = [...alphabet].join("");
  requireAlphabet(characters, config.vocabSize);
  const header = {
    __metadata__: {
      format: FILE_FORMAT,
      config: JSON.stringify({ ...Object.fromEntries(options), ...FIXED_OPTIONS }),
      alphabet: characters,
    },
  };
  let end = 0;
  for (const [name, ...sizes] of shapes) {
    requireFinite(name, named[name]);
    const start = end;
    end += 4 * named[name].length;
    header[name] = { dtype: "F32", shape: sizes, data_offsets: [start, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = 8 * Math.ceil(text.length / 8); // filled up with spaces
  const bytes = new Uint8Array(LENGTH_BYTES + length + end);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, length, true);
  bytes.fill(32, LENGTH_BYTES, LENGTH_BYTES + length).set(text, LENGTH_BYTES);
  for (const [name] of shapes) {
    const from = LENGTH_BYTES + length + header[name].data_offsets[0];
    named[name].forEach((number, i) => view.setFloat32(from + 4 * i, number, true));
  }
  return bytes;
}

/**
 * What a file holds.
 * @param {Uint8Array} bytes
 * @returns {{ config: Parameters<typeof shapesOf>[0], alphabet: string,
 *   named: Record<string, Float32Array> }}
 */
export function opened(bytes) {
  const { header, data } = splitFile(bytes);
  const { __metadata__: metadata, ...entries } = header;
  if (metadata?.format !== FILE_FORMAT)
    throw new Error(
      "This file holds no model of this book: its format should be " +
        `“${FILE_FORMAT}”, and it is ${shownValue(metadata?.format)}.`,
    );
  const config = readConfig(metadata.config);
  requireAlphabet(metadata.alphabet, config.vocabSize);
  const shapes = shapesOf(config);
  requireTensors(shapes, entries, data.byteLength);
  const { named } = numbersFor(shapes);
  for (const [name] of shapes) {
    const from = entries[name].data_offsets[0];
    const numbers = named[name];
    for (let i = 0; i < numbers.length; i += 1) numbers[i] = data.getFloat32(from + 4 * i, true);
    requireFinite(name, numbers);
  }
  return { config, alphabet: metadata.alphabet, named };
}

/** The header, and a view of what stands behind it. */
function splitFile(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = LENGTH_BYTES;
  const length = bytes.length < start ? Infinity : Number(view.getBigUint64(0, true));
  // A header begins with a brace.
  if (length < 2 || length > MOST_HEADER || (bytes.length > start && bytes[start] !== 123))
    throw new Error("This isn't a safetensors file with a model.");
  if (length > bytes.length - start)
    throw new Error("The file is cut off: it ends inside its header.");
  const header = parsed(() => {
    const text = bytes.subarray(start, start + length);
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  }, "header");
  const behind = start + length;
  const data = new DataView(bytes.buffer, bytes.byteOffset + behind, bytes.length - behind);
  return { header, data };
}

/** An object that a piece of the file holds as JSON. */
function parsed(parse, piece) {
  try {
    const value = parse();
    if (isObject(value)) return value;
  } catch {
    // Like JSON of something else, text that isn't JSON is no object.
  }
  throw new Error(`The file is broken: its ${piece} can't be read.`);
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value of the file in a message, whatever it is. */
function shownValue(value) {
  if (value === undefined) return "missing";
  if (isObject(value) || Array.isArray(value)) return "something else";
  const text = String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * The page's names and values of a config, if its trainer can compute such a model.
 * @returns {Parameters<typeof shapesOf>[0]}
 */
function readConfig(text) {
  const given = parsed(() => JSON.parse(text), "config");
  const usual = { positions: "learned", norm: "layer", activation: "gelu", ...FIXED_OPTIONS };
  const options = { ...usual, ...given };
  const known = new Set(Object.values(OPTION_NAMES).map(([name]) => name));
  for (const [name, value] of Object.entries(options)) {
    const isFixed = Object.hasOwn(FIXED_OPTIONS, name);
    const choices = Object.hasOwn(OPTION_CHOICES, name) && OPTION_CHOICES[name];
    const fits = isFixed ? value === FIXED_OPTIONS[name] : known.has(name);
    if (!fits || (choices && !choices.includes(value)))
      throw new Error(
        `The model has an option that this page's trainer doesn't have: ${shownValue(name)} ` +
          `${shownValue(value)}.`,
      );
  }
  /** @type {any} */
  const config = Object.fromEntries(
    Object.entries(OPTION_NAMES).map(([ours, [theirs]]) => [ours, options[theirs]]),
  );
  requireSizes(config);
  return config;
}

function requireSizes(config) {
  for (const name of ["vocabSize", "contextLength", "width", "layers", "heads"]) {
    const [size, most] = [config[name], LARGEST_SIZES[name] ?? config.width];
    if (!Number.isInteger(size) || size < 1 || size > most)
      throw new Error(
        `The model's ${OPTION_NAMES[name][1]} is ${shownValue(size)}; ` +
          `this page takes whole numbers from 1 to ${most}.`,
      );
  }
  const { width, heads } = config;
  if (width % heads)
    throw new Error(`The model's ${heads} heads can't share its width of ${width} equally.`);
  if (config.positions === "rotary" && (width / heads) % 2)
    throw new Error(
      `The model's heads are ${width / heads} wide; with rotary positions, that must be even.`,
    );
}

function requireAlphabet(alphabet, vocabSize) {
  if (typeof alphabet !== "string" || /\p{Surrogate}/u.test(alphabet))
    throw new Error("The model's alphabet must be a text of whole characters.");
  const characters = [...alphabet];
  if (characters.length !== vocabSize)
    throw new Error(
      `The model's alphabet should have ${vocabSize} characters, and it has ${characters.length}.`,
    );
  const repeated = characters.find((one, i) => characters.indexOf(one) < i);
  if (repeated !== undefined)
    throw new Error(`The model's alphabet has a character twice: ${JSON.stringify(repeated)}.`);
}

/** The file has exactly these tensors, and exactly their bytes, each byte once. */
function requireTensors(shapes, entries, bytes) {
  const needed = new Set(shapes.map(([name]) => name));
  for (const name of Object.keys(entries))
    if (!needed.has(name))
      throw new Error(`The file has a tensor too many, ${shownValue(name)}: its config has none.`);
  const places = shapes.map(([name, ...sizes]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : null;
    if (!isObject(entry)) throw new Error(`The file lacks the tensor ${name}.`);
    const { dtype, shape, data_offsets: offsets } = entry;
    if (dtype !== "F32")
      throw new Error(`The tensor ${name} should hold F32 numbers, not ${shownValue(dtype)}.`);
    const isShape = Array.isArray(shape) && shape.every(Number.isInteger);
    if (!isShape || shape.join() !== sizes.join())
      throw new Error(
        `The tensor ${name} should have the shape ${sizes.join(" × ")}, ` +
          `not ${shownValue(isShape ? shape.join(" × ") : shape)}.`,
      );
    const [from, to] = Array.isArray(offsets) ? offsets : [];
    return { from, to, length: 4 * sizes.reduce((product, size) => product * size, 1) };
  });
  let at = 0;
  for (const { from, to, length } of places.sort((one, other) => one.from - other.from)) {
    if (from !== at || to !== at + length)
      throw new Error("The file is broken: its tensors don't stand one behind the other.");
    at = to;
  }
  if (bytes < at) throw new Error(`The file is cut off: its last ${at - bytes} bytes are missing.`);
  if (bytes > at) throw new Error(`The file is broken: it is ${bytes - at} bytes too long.`);
}

function requireFinite(name, numbers) {
  const wrong = numbers.find((number) => !Number.isFinite(number));
  if (wrong !== undefined)
    throw new Error(
      `The model's weights must be finite, but ${name} has a number that is ${wrong}.`,
    );
}
