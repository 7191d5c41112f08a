// A GGUF file: what it says of itself, and where each tensor's numbers lie in it.

const TEXT = 8;
const LIST = 9;
/** What the kinds of numbers are called in a DataView, and their bytes. */
const NUMBERS = {
  0: ["getUint8", 1],
  1: ["getInt8", 1],
  2: ["getUint16", 2],
  3: ["getInt16", 2],
  4: ["getUint32", 4],
  5: ["getInt32", 4],
  6: ["getFloat32", 4],
  7: ["getUint8", 1],
  10: ["getBigUint64", 8],
  11: ["getBigInt64", 8],
  12: ["getFloat64", 8],
};
/** The kinds of tensors that are read here: numbers in a block, and its bytes. */
export const BLOCKS = { F32: [1, 4], Q4_1: [32, 20], Q8_0: [32, 34] };
const TENSOR_KINDS = { 0: "F32", 3: "Q4_1", 8: "Q8_0" };
const MOST_SIZES = 4;

/**
 * A matrix as it lies in the file: each row has `columns` numbers in `stride` bytes. A vector is
 * one row.
 * @typedef {{
 *   kind: "F32" | "Q4_1" | "Q8_0", at: number, rows: number, columns: number, stride: number,
 * }} Stored
 * @typedef {{ metadata: Map<string, any>, tensors: Map<string, Stored> }} Gguf
 */

/** Reads one thing after the other, and knows where the file ends. */
class Cursor {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.decoder = new TextDecoder();
    this.at = 0;
  }

  /** Where the next `count` bytes begin. */
  skip(count) {
    const from = this.at;
    if (count > this.bytes.length - from)
      throw new Error("The file is cut off: it ends inside its header.");
    this.at += count;
    return from;
  }

  number(kind) {
    const [read, size] = NUMBERS[kind] ?? [];
    if (!read) throw new Error(`The file is broken: it has a value of an unknown kind, ${kind}.`);
    const from = this.skip(size);
    return Number(this.view[read](from, true));
  }

  count() {
    return this.number(10);
  }

  text() {
    const length = this.count();
    const from = this.skip(length);
    return this.decoder.decode(this.bytes.subarray(from, from + length));
  }

  value(kind) {
    if (kind === TEXT) return this.text();
    if (kind !== LIST) return this.number(kind);
    const [inner, length] = [this.number(4), this.count()];
    if (inner === LIST) throw new Error("The file is broken: it has a list of lists.");
    const list = [];
    for (let i = 0; i < length; i += 1) list.push(this.value(inner));
    return list;
  }
}

/**
 * Read a GGUF file.
 * @param {Uint8Array} bytes
 * @returns {Gguf}
 */
export function readGguf(bytes) {
  const cursor = new Cursor(bytes);
  if (!isGguf(bytes)) throw new Error("This isn't a GGUF file: it doesn't begin with “GGUF”.");
  cursor.skip(4);
  const version = cursor.number(4);
  if (version !== 2 && version !== 3)
    throw new Error(`The GGUF file has version ${version}; this page reads 2 and 3.`);
  const [tensorCount, pairs] = [cursor.count(), cursor.count()];
  const metadata = new Map();
  for (let i = 0; i < pairs; i += 1) {
    const name = cursor.text();
    metadata.set(name, cursor.value(cursor.number(4)));
  }
  const entries = [];
  for (let i = 0; i < tensorCount; i += 1) entries.push(readEntry(cursor));
  const alignment = metadata.get("general.alignment") ?? 32;
  if (!Number.isInteger(alignment) || alignment < 1)
    throw new Error(`The file is broken: its alignment is ${alignment}.`);
  const start = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = new Map();
  let end = start;
  for (const { name, offset, ...stored } of entries) {
    const at = start + offset;
    end = Math.max(end, at + stored.rows * stored.stride);
    tensors.set(name, { ...stored, at });
  }
  const missing = end - bytes.length;
  if (missing > 0)
    throw new Error(
      `The file is cut off: its last ${missing.toLocaleString("en")} bytes are missing.`,
    );
  return { metadata, tensors };
}

/** @param {Uint8Array} bytes */
export const isGguf = (bytes) => String.fromCharCode(...bytes.subarray(0, 4)) === "GGUF";

/** A tensor's name, sizes, kind and place. */
function readEntry(cursor) {
  const name = cursor.text();
  const count = cursor.number(4);
  if (count < 1 || count > MOST_SIZES)
    throw new Error(`The file is broken: the tensor ${name} has ${count} sizes.`);
  const sizes = Array.from({ length: count }, () => cursor.count());
  const number = cursor.number(4);
  const kind = TENSOR_KINDS[number];
  if (!kind)
    throw new Error(
      `The tensor ${name} is stored in a way that this page doesn't read (number ${number} in ` +
        `GGUF); it reads ${Object.keys(BLOCKS).join(", ")}.`,
    );
  const [block, size] = BLOCKS[kind];
  const [columns, ...more] = sizes;
  if (columns % block)
    throw new Error(`The file is broken: a row of ${name} has ${columns} numbers.`);
  const rows = more.reduce((product, one) => product * one, 1);
  const offset = cursor.count();
  return { name, offset, kind, rows, columns, stride: (columns / block) * size };
}
