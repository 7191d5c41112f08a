// From the file that a reader has handed over to the model in it: its bytes once, in memory, and
// compared with what they should be.
import { fileInZip, isZip } from "./archive.js";
import { BytePairs } from "./byte_pairs.js";
import { isGguf, readGguf } from "./gguf.js";
import { Llama } from "./llama.js";
import { Products } from "./quantised.js";
import { Session } from "./session.js";
import { Sha256 } from "./sha256.js";

const LARGEST = 160e6; // bytes
const LONGEST = 512; // tokens; memory for keys, values and weights grows with them
const CHECKED_AT_ONCE = 1 << 22; // bytes, between two reports
const SIZE = (bytes) => `${bytes.toLocaleString("en")} bytes`;

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
    throw new Error(`The file has ${SIZE(size)}, more than a model that this page can hold.`);
  const bytes = await collected(stream, size, (done) => tell(stage, done, size));
  if (!isGguf(bytes)) throw new Error("The file isn't a model: it doesn't begin with “GGUF”.");
  const gguf = readGguf(bytes);
  if (expected) check(bytes, expected, gguf.metadata.get("general.name"), tell);
  const products = new Products(bytes);
  const model = new Llama(gguf, products, LONGEST);
  const session = new Session(model, new BytePairs(gguf.metadata));
  const { layers, heads, keyValueHeads, width, vocabulary } = model.sizes;
  return {
    session,
    model: {
      name: expected?.name ?? gguf.metadata.get("general.name") ?? "a Llama without a name",
      ...{ layers, heads, keyValueHeads, width, vocabulary, bytes: size },
      contextLength: model.longest,
    },
  };
}

/** Where the model's bytes come from: the file itself, or a file in it. */
async function sourceOf(file) {
  const start = new Uint8Array(await readable(() => file.slice(0, 4).arrayBuffer()));
  if (isZip(start)) return { ...(await fileInZip(file, ".gguf")), stage: "unpacking" };
  if (!isGguf(start))
    throw new Error(
      "The file is neither a model (a .gguf, which begins with “GGUF”) nor a wheel that holds one.",
    );
  return { size: file.size, stream: file.stream(), stage: "reading the file" };
}

/** The bytes of a stream, in one array. */
async function collected(stream, size, tell) {
  const bytes = roomFor(size);
  let done = 0;
  const reader = stream.getReader();
  for (;;) {
    const { value, done: ended } = await readable(() => reader.read());
    if (ended) break;
    if (done + value.length > size)
      throw new Error("The file is broken: it is longer than it says.");
    bytes.set(value, done);
    done += value.length;
    tell(done);
  }
  if (done < size)
    throw new Error(`The file is cut off: its last ${SIZE(size - done)} are missing.`);
  return bytes;
}

/** @param {number} size */
function roomFor(size) {
  try {
    return new Uint8Array(size);
  } catch {
    throw new Error(`This device lacks the memory for the model: it needs ${SIZE(size)} at once.`);
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

/** Compare the bytes with what they should be. */
function check(bytes, { name, bytes: size, sha256 }, found, tell) {
  if (bytes.length !== size)
    throw new Error(
      `The file holds another model than ${name}: ${found ?? "one without a name"}, with ` +
        `${SIZE(bytes.length)} instead of ${SIZE(size)}.`,
    );
  const hash = new Sha256();
  for (let at = 0; at < size; at += CHECKED_AT_ONCE) {
    hash.update(bytes.subarray(at, at + CHECKED_AT_ONCE));
    tell("checking", Math.min(size, at + CHECKED_AT_ONCE), size);
  }
  const digest = hash.digest();
  if (digest !== sha256)
    throw new Error(
      `The file is damaged, or another one of the same size: its SHA-256 should be ${sha256}, and ` +
        `it is ${digest}.`,
    );
}
