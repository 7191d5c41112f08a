// From the file that a reader has handed over to the model in it: its bytes once, in memory, and
// compared with what they should be.
import { fileInZip, isZip } from "./archive.js";
import { BytePairs } from "./byte_pairs.js";
import { isGguf, readGguf } from "./gguf.js";
import { Llama } from "./llama.js";
import { Session } from "./session.js";
import { sha256 } from "./sha256.js";
import { productsFor } from "./vector_products.js";

const LARGEST = 160e6; // bytes
const TOLD = 1 << 20; // bytes, between two reports
const LONGEST = 512; // tokens; memory for keys, values and weights grows with them
const inBytes = (bytes) => `${bytes.toLocaleString("en")} bytes`;

/**
 * What the file should be.
 * @typedef {{ name: string, bytes: number, sha256: string }} Expected
 * @typedef {(stage: string, done: number, total: number) => void} Tell
 */

/**
 * Open a model's file, or the wheel that brings it.
 * @param {Blob} file
 * @param {Expected | undefined} expected
 * @param {Tell} tell
 */
export async function openModel(file, expected, tell) {
  const { size, stream, stage } = await sourceOf(file);
  if (size > LARGEST)
    throw new Error(`The file has ${inBytes(size)}, more than a model that this page can hold.`);
  const products = inMemory(size, () => productsFor(size));
  const { bytes } = products;
  await collect(stream, bytes, (done) => tell(stage, done, size));
  if (!isGguf(bytes)) throw new Error("The file isn't a model: it doesn't begin with “GGUF”.");
  if (expected && expected.bytes === size) checkHash(bytes, expected, tell);
  const gguf = readGguf(bytes);
  const name = gguf.metadata.get("general.name") ?? "a Llama without a name";
  if (expected && expected.bytes !== size)
    throw new Error(
      `The file holds another model than ${expected.name}: ${name}, with ${inBytes(size)} ` +
        `instead of ${inBytes(expected.bytes)}.`,
    );
  const model = new Llama(gguf, products, LONGEST);
  const tokenizer = new BytePairs(gguf.metadata, model.sizes.vocabulary);
  const session = inMemory(size, () => new Session(model, tokenizer));
  const { layers, heads, keyValueHeads, width, vocabulary } = model.sizes;
  return {
    session,
    model: {
      name: expected?.name ?? name,
      ...{ layers, heads, keyValueHeads, width, vocabulary, bytes: size },
      contextLength: model.longest,
      compute: products.name,
    },
  };
}

/** Where the model's bytes come from: the file itself, or a file in it. */
async function sourceOf(file) {
  const start = new Uint8Array(await readable(() => file.slice(0, 4).arrayBuffer()));
  if (isZip(start)) return { ...(await fileInZip(file, ".gguf")), stage: "unpacking" };
  if (!isGguf(start))
    throw new Error(
      "The file is neither a model (a .gguf begins with “GGUF”), nor a wheel with one in it.",
    );
  return { size: file.size, stream: file.stream(), stage: "reading the file" };
}

/** Fill an array with the bytes of a stream. */
async function collect(stream, bytes, tell) {
  let done = 0;
  const reader = stream.getReader();
  for (;;) {
    const { value, done: ended } = await readable(() => reader.read());
    if (ended) break;
    if (done + value.length > bytes.length)
      throw new Error("The file is broken: it is longer than the zip says.");
    bytes.set(value, done);
    const isTold = Math.floor(done / TOLD) < Math.floor((done + value.length) / TOLD);
    done += value.length;
    if (isTold || done === bytes.length) tell(done);
  }
  if (done < bytes.length)
    throw new Error(`The file is cut off: its last ${inBytes(bytes.length - done)} are missing.`);
}

/** What needs much memory; if there isn't enough, it says so. */
function inMemory(size, make) {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(
      `This device lacks the memory for the model: the file alone takes ${inBytes(size)}.`,
    );
  }
}

/** @template T @param {() => Promise<T>} read @returns {Promise<T>} */
async function readable(read) {
  try {
    return await read();
  } catch {
    throw new Error("The file couldn't be read to its end.");
  }
}

/** @param {Expected} expected */
function checkHash(bytes, expected, tell) {
  tell("checking", 0, expected.bytes);
  const digest = sha256(bytes, (done) => tell("checking", done, expected.bytes));
  if (digest !== expected.sha256)
    throw new Error(
      "The file is damaged, or another one of the same size: its SHA-256 should be " +
        `${expected.sha256}, and it is ${digest}.`,
    );
}
