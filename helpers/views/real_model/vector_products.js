// The products of quantised.js in WebAssembly, four numbers at a time, where the browser has that
// and the page's policy allows it. The file lies in WebAssembly's memory; behind it is room for the
// tokens' vectors and for results.
import { assembled, f32, get, i32, repeat, set, TYPES, v128 } from "./assembler.js";
import { BLOCKS } from "./gguf.js";
import { Products } from "./quantised.js";

const PAGE = 65536; // bytes of memory
const TOKENS = [1, 4]; // how many a function multiplies at once
const BLOCK = 32; // numbers
const SUMS = 4 * BLOCK; // where a block's sums stand behind its numbers, in bytes
const STRIDE = SUMS + 16; // from a block of a token's vector to the next, in bytes
const MOST_COLUMNS = 1 << 14;
const MOST_ROWS = 1 << 17;

/** A float16 in memory as a number: its bits are moved, and its exponent made right. */
function half(address, behind) {
  const bits = i32.load16(address, behind);
  const sign = i32.shiftLeft(i32.and(bits, i32.constant(0x8000)), i32.constant(16));
  const rest = i32.shiftLeft(i32.and(bits, i32.constant(0x7fff)), i32.constant(13));
  return f32.multiply(f32.fromBits(i32.or(sign, rest)), f32.constant(2 ** 112));
}

/** Eight whole numbers of 16 bits as two vectors of numbers. */
const numbers = (eight) => v128.widenSigned.map((widen) => v128.toFloat(widen(eight)));

/** How a block is unpacked, in eights of 16 bits; and its least number, where it has one. */
const KINDS = {
  Q4_1: {
    unpacked: (at, packed, part) => [
      set(packed, v128.load(get(at), 4)),
      ...[
        v128.and(get(packed), v128.splatByte(i32.constant(15))),
        v128.shiftBytesRight(get(packed), i32.constant(4)),
      ].flatMap((bytes, i) =>
        v128.widenBytes.map((widen, j) => set(part + 2 * i + j, widen(bytes))),
      ),
    ],
    least: (at) => half(get(at), 2),
  },
  Q8_0: {
    unpacked: (at, packed, part) =>
      [0, 1, 2, 3].map((i) => set(part + i, v128.load8Signed(get(at), 2 + 8 * i))),
    least: null,
  },
};

/**
 * A function of (matrix, rows, blocks in a row, vectors, results): the products of all rows with
 * the vectors of some tokens.
 */
function productsOf(kind, tokens) {
  const [at, rows, blocks, vectors, results] = [0, 1, 2, 3, 4];
  const locals = [];
  const local = (type, count = 1) => {
    const first = 5 + locals.length;
    for (let i = 0; i < count; i += 1) locals.push(type);
    return first;
  };
  const left = local(TYPES.i32);
  const place = local(TYPES.i32, tokens); // of each token's next block
  const packed = local(TYPES.v128);
  const part = local(TYPES.v128, 4);
  const weights = local(TYPES.v128, 8);
  const scale = local(TYPES.v128);
  const least = local(TYPES.v128);
  const total = local(TYPES.v128, tokens);
  const each = (count, make) => Array.from({ length: count }, (_, i) => make(i));
  const sum = (terms, add) => terms.reduce((one, other) => add(one, other));
  const { unpacked, least: leastOf } = KINDS[kind];

  const token = (t) => {
    const products = each(8, (i) =>
      v128.multiply(get(weights + i), v128.load(get(place + t), 16 * i)),
    );
    const terms = [v128.multiply(get(scale), sum(products, v128.add))];
    if (leastOf) terms.push(v128.multiply(get(least), v128.load(get(place + t), SUMS)));
    return [
      set(total + t, sum([get(total + t), ...terms], v128.add)),
      set(place + t, i32.add(get(place + t), i32.constant(STRIDE))),
    ];
  };
  const block = [
    unpacked(at, packed, part),
    each(4, (i) => numbers(get(part + i)).map((four, j) => set(weights + 2 * i + j, four))),
    set(scale, v128.splatFloat(half(get(at), 0))),
    leastOf ? set(least, v128.splatFloat(leastOf(at))) : [],
    each(tokens, token),
    set(at, i32.add(get(at), i32.constant(BLOCKS[kind][1]))),
  ];
  const vectorBytes = i32.multiply(get(blocks), i32.constant(STRIDE));
  const zero = v128.splatFloat(f32.constant(0));
  const lanes = (t) =>
    sum(
      each(4, (i) => v128.lane(get(total + t), i)),
      f32.add,
    );
  const row = [
    each(tokens, (t) => [
      set(place + t, i32.add(get(vectors), i32.multiply(vectorBytes, i32.constant(t)))),
      set(total + t, zero),
    ]),
    set(left, get(blocks)),
    repeat(left, block),
    each(tokens, (t) => f32.store(get(results), 4 * t, lanes(t))),
    set(results, i32.add(get(results), i32.constant(4 * tokens))),
  ];
  return { name: `${kind} ${tokens}`, parameters: 5, locals, body: repeat(rows, row) };
}

const compiled = () => {
  const functions = Object.keys(KINDS).flatMap((kind) =>
    TOKENS.map((tokens) => productsOf(kind, tokens)),
  );
  return new WebAssembly.Module(assembled(functions));
};

class VectorProducts extends Products {
  /**
   * @param {WebAssembly.Module} module
   * @param {number} size of the file, in bytes
   */
  constructor(module, size) {
    const vectors = PAGE * Math.ceil(size / PAGE);
    const most = Math.max(...TOKENS);
    const results = vectors + most * (MOST_COLUMNS / BLOCK) * STRIDE;
    const end = results + most * MOST_ROWS * 4;
    const memory = new WebAssembly.Memory({ initial: Math.ceil(end / PAGE) });
    super(new Uint8Array(memory.buffer, 0, size), "WebAssembly");
    this.places = { vectors, results };
    this.numbers = new Float32Array(memory.buffer);
    /** @type {any} */
    this.functions = new WebAssembly.Instance(module, { env: { memory } }).exports;
  }

  /** @type {Products["multiply"]} */
  multiply(matrix, x, y, N) {
    const { kind, rows, columns, at } = matrix;
    if (kind === "F32" || columns > MOST_COLUMNS || rows > MOST_ROWS)
      return super.multiply(matrix, x, y, N);
    const { vectors, results } = this.places;
    for (let n = 0; n < N;) {
      const tokens = TOKENS.findLast((count) => count <= N - n) ?? 1;
      for (let t = 0; t < tokens; t += 1) this.#hand(x, (n + t) * columns, columns, t);
      this.functions[`${kind} ${tokens}`](at, rows, columns / BLOCK, vectors, results);
      for (let t = 0; t < tokens; t += 1)
        for (let row = 0; row < rows; row += 1)
          y[(n + t) * rows + row] = this.numbers[results / 4 + row * tokens + t];
      n += tokens;
    }
  }

  /** Put a token's vector into memory: behind each block four sums of its numbers. */
  #hand(x, from, columns, t) {
    const { numbers } = this;
    let to = (this.places.vectors + t * (columns / BLOCK) * STRIDE) / 4;
    for (let column = 0; column < columns; column += BLOCK, to += STRIDE / 4) {
      const sums = [0, 0, 0, 0];
      for (let i = 0; i < BLOCK; i += 1) {
        numbers[to + i] = x[from + column + i];
        sums[i % 4] += x[from + column + i];
      }
      numbers.set(sums, to + BLOCK);
    }
  }
}

/**
 * Products with a file of this size, whose bytes are still to be filled in.
 * @param {number} size in bytes
 * @returns {Products}
 */
export function productsFor(size) {
  let module;
  try {
    module = compiled();
  } catch {
    return new Products(new Uint8Array(size)); // no WebAssembly here, or none with vectors
  }
  return new VectorProducts(module, size);
}
