// Products with matrices as a GGUF file holds them, without unpacking a whole one.
import { halfToNumber } from "../shared/float16.js";
import { multiply, rowsOf } from "../shared/products.js";
/** @import { Stored } from "./gguf.js" */

const AT_ONCE = 4; // rows that are unpacked for several tokens

export class Products {
  /**
   * @param {Uint8Array} bytes the whole file
   * @param {string} name of what computes
   */
  constructor(bytes, name = "JavaScript") {
    this.name = name;
    this.bytes = bytes;
    this.signed = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.halves = Float32Array.from({ length: 65536 }, (_, bits) => halfToNumber(bits));
    this.unpacked = new Float32Array();
    this.sums = new Float32Array();
  }

  /**
   * One row as 32-bit numbers.
   * @param {Stored} matrix
   * @param {number} row
   * @param {Float32Array} into
   * @param {number} to where it begins in there
   */
  row({ kind, at, columns, stride }, row, into, to = 0) {
    const { bytes, signed, view, halves } = this;
    let from = at + row * stride;
    if (kind === "F32") {
      for (let i = 0; i < columns; i += 1) into[to + i] = view.getFloat32(from + 4 * i, true);
      return;
    }
    for (let end = to + columns; to < end; to += 32) {
      const scale = halves[bytes[from] | (bytes[from + 1] << 8)];
      if (kind === "Q8_0") {
        for (let i = 0; i < 32; i += 1) into[to + i] = scale * signed[from + 2 + i];
        from += 34;
      } else {
        const least = halves[bytes[from + 2] | (bytes[from + 3] << 8)];
        for (let i = 0; i < 16; i += 1) {
          const both = bytes[from + 4 + i];
          into[to + i] = scale * (both & 15) + least;
          into[to + 16 + i] = scale * (both >> 4) + least;
        }
        from += 20;
      }
    }
  }

  /**
   * y (N, rows) = x (N, columns) matrixᵀ
   * @param {Stored} matrix
   * @param {Float32Array} x
   * @param {Float32Array} y
   * @param {number} N
   */
  multiply(matrix, x, y, N) {
    if (N > 1 || matrix.kind === "F32") this.#unpacking(matrix, x, y, N);
    else if (matrix.kind === "Q4_1") this.#fourBits(matrix, x, y);
    else this.#eightBits(matrix, x, y);
  }

  /** Each row is unpacked once for all tokens. */
  #unpacking(matrix, x, y, N) {
    const { rows, columns } = matrix;
    if (this.unpacked.length < AT_ONCE * columns)
      this.unpacked = new Float32Array(AT_ONCE * columns);
    const [left, right] = [rowsOf(x, columns), rowsOf(this.unpacked, columns)];
    for (let row = 0; row < rows; row += AT_ONCE) {
      const count = Math.min(AT_ONCE, rows - row);
      for (let i = 0; i < count; i += 1) this.row(matrix, row + i, this.unpacked, i * columns);
      multiply(left, right, { data: y, at: row, stride: rows }, N, count, columns);
    }
  }

  /** Blocks of 20 bytes: a scale, the least number, and 32 times 4 bits. */
  #fourBits({ at, rows, columns }, x, y) {
    const { bytes, halves } = this;
    const sums = this.#sumsOf(x, columns);
    let from = at;
    for (let row = 0; row < rows; row += 1) {
      let total = 0;
      for (let column = 0; column < columns; column += 32, from += 20) {
        const scale = halves[bytes[from] | (bytes[from + 1] << 8)];
        const least = halves[bytes[from + 2] | (bytes[from + 3] << 8)];
        let [low, high, nextLow, nextHigh] = [0, 0, 0, 0];
        for (let i = 0; i < 16; i += 2) {
          const both = bytes[from + 4 + i];
          const next = bytes[from + 5 + i];
          low += (both & 15) * x[column + i];
          high += (both >> 4) * x[column + 16 + i];
          nextLow += (next & 15) * x[column + i + 1];
          nextHigh += (next >> 4) * x[column + 17 + i];
        }
        total += scale * (low + high + nextLow + nextHigh) + least * sums[column / 32];
      }
      y[row] = total;
    }
  }

  /** The sum of each 32 numbers, which the least numbers of blocks are multiplied by. */
  #sumsOf(x, columns) {
    if (this.sums.length < columns / 32) this.sums = new Float32Array(columns / 32);
    for (let column = 0; column < columns; column += 32) {
      let total = 0;
      for (let i = 0; i < 32; i += 1) total += x[column + i];
      this.sums[column / 32] = total;
    }
    return this.sums;
  }

  /** Blocks of 34 bytes: a scale, and 32 times 8 bits with a sign. */
  #eightBits({ at, rows, columns }, x, y) {
    const { bytes, signed, halves } = this;
    let from = at;
    for (let row = 0; row < rows; row += 1) {
      let total = 0;
      for (let column = 0; column < columns; column += 32, from += 34) {
        const scale = halves[bytes[from] | (bytes[from + 1] << 8)];
        let [even, odd] = [0, 0];
        for (let i = 0; i < 32; i += 2) {
          even += signed[from + 2 + i] * x[column + i];
          odd += signed[from + 3 + i] * x[column + i + 1];
        }
        total += scale * (even + odd);
      }
      y[row] = total;
    }
  }
}
