// What transformers compute forward, for rows of tokens that stand one behind the other: token n is
// row n. The trainer's way back through it is in trainer/layers.js.
import { multiply, rowsOf } from "./products.js";

const SMALLEST = 1e-5; // added to a variance before its root is taken
const ROTARY_BASE = 10000;

/** Arrays that are taken for a moment, each as long as it ever had to be. */
export class Scratch {
  constructor() {
    this.arrays = new Map();
  }

  /**
   * @param {string} name
   * @param {number} length
   */
  take(name, length) {
    const had = this.arrays.get(name);
    if (had && had.length >= length) return had;
    const array = new Float32Array(length);
    this.arrays.set(name, array);
    return array;
  }
}

/** y (N, outputs) = x (N, inputs) weightᵀ + bias */
export function linear(x, weight, bias, y, N, inputs, outputs) {
  if (bias) for (let n = 0; n < N; n += 1) y.set(bias, n * outputs);
  const [left, right] = [rowsOf(x, inputs), rowsOf(weight, inputs)];
  multiply(left, right, rowsOf(y, outputs), N, outputs, inputs, Boolean(bias));
}

/** LayerNorm, or RMSNorm where there is no bias; keeps what a way back needs. */
export function norm(x, weight, bias, { normal, scale }, y, N, C, smallest = SMALLEST) {
  for (let n = 0; n < N; n += 1) {
    const at = n * C;
    let mean = 0;
    if (bias) {
      for (let i = 0; i < C; i += 1) mean += x[at + i];
      mean /= C;
    }
    let square = 0;
    for (let i = 0; i < C; i += 1) square += (x[at + i] - mean) ** 2;
    scale[n] = 1 / Math.sqrt(square / C + smallest);
    for (let i = 0; i < C; i += 1) {
      normal[at + i] = (x[at + i] - mean) * scale[n];
      y[at + i] = normal[at + i] * weight[i] + (bias ? bias[i] : 0);
    }
  }
}

/** The cosines and sines of the angles that rotary positions turn by, (positions, D / 2). */
export function rotaryTable(positions, D, base = ROTARY_BASE) {
  const half = D / 2;
  const [cosines, sines] = [0, 1].map(() => new Float32Array(positions * half));
  for (let t = 0; t < positions; t += 1)
    for (let i = 0; i < half; i += 1) {
      const angle = t * base ** ((-2 * i) / D);
      cosines[t * half + i] = Math.cos(angle);
      sines[t * half + i] = Math.sin(angle);
    }
  return { cosines, sines };
}

/**
 * Turn each head's pairs of features in place: forward by 1, back by -1. A row of tokens begins at
 * its `position`, or at 0. Feature i's partner is D / 2 behind it; where `adjacent`, features 2i
 * and 2i + 1 are partners.
 */
export function turn(x, { cosines, sines }, rows, C, D, way, adjacent = false) {
  const half = D / 2;
  const [step, apart] = adjacent ? [2, 1] : [1, half];
  for (const { start, length, position = 0 } of rows)
    for (let t = 0; t < length; t += 1)
      for (let at = (start + t) * C; at < (start + t + 1) * C; at += D)
        for (let i = 0; i < half; i += 1) {
          const angle = (position + t) * half + i;
          const [cosine, sine] = [cosines[angle], way * sines[angle]];
          const one = at + step * i;
          const [first, second] = [x[one], x[one + apart]];
          x[one] = first * cosine - second * sine;
          x[one + apart] = first * sine + second * cosine;
        }
}

/** Scores in place become weights: of the first `seen`, those up to `end` get none. */
export function softmaxRow(numbers, at, seen, end, D) {
  const scale = 1 / Math.sqrt(D);
  let top = -Infinity;
  for (let s = 0; s < seen; s += 1) top = Math.max(top, numbers[at + s] * scale);
  let total = 0;
  for (let s = 0; s < seen; s += 1) {
    numbers[at + s] = Math.exp(numbers[at + s] * scale - top);
    total += numbers[at + s];
  }
  for (let s = 0; s < seen; s += 1) numbers[at + s] /= total;
  numbers.fill(0, at + seen, at + end);
}

/** x becomes x + more, in the first `count` numbers. */
export function add(x, more, count) {
  for (let i = 0; i < count; i += 1) x[i] += more[i];
}
