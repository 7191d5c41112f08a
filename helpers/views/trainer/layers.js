// The layers of a transformer, forward and backward, for rows of tokens that stand one behind the
// other: token n is row n, whatever text it is of. Each backward is derived on the page "Backward,
// by hand".
import { normalBelow } from "../shared/mathematics.js";
import { multiply, partOf, rowsOf, transposed } from "./products.js";

const SMALLEST = 1e-5; // added to a variance before its root is taken
const ROTARY_BASE = 10000;
const BLOCK = 32; // queries at a time, so that few keys behind them are read

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

// --- linear ----------------------------------------------------------------------------------

/** y (N, outputs) = x (N, inputs) weightᵀ + bias */
export function linear(x, weight, bias, y, N, inputs, outputs) {
  if (bias) for (let n = 0; n < N; n += 1) y.set(bias, n * outputs);
  const [left, right] = [rowsOf(x, inputs), rowsOf(weight, inputs)];
  multiply(left, right, rowsOf(y, outputs), N, outputs, inputs, Boolean(bias));
}

/** From the gradient of y to those of weight and bias, and to that of x, where it is added. */
export function linearBackward(scratch, gradients, x, weight, N, inputs, outputs) {
  const { of: arriving, weight: ofWeight, bias: ofBias, x: ofX } = gradients;
  const turnedY = transposed(rowsOf(arriving, outputs), N, outputs, scratch.take("y", N * outputs));
  const turnedX = transposed(rowsOf(x, inputs), N, inputs, scratch.take("x", N * inputs));
  multiply(turnedY, turnedX, rowsOf(ofWeight, inputs), outputs, inputs, N);
  if (ofBias)
    for (let i = 0; i < outputs; i += 1) {
      let total = 0;
      for (let n = 0; n < N; n += 1) total += turnedY.data[i * N + n];
      ofBias[i] = total;
    }
  const turned = transposed(
    rowsOf(weight, inputs),
    outputs,
    inputs,
    scratch.take("weight", weight.length),
  );
  multiply(rowsOf(arriving, outputs), turned, rowsOf(ofX, inputs), N, inputs, outputs, true);
}

// --- norms -----------------------------------------------------------------------------------

/** LayerNorm, or RMSNorm where there is no bias; keeps what the way back needs. */
export function norm(x, weight, bias, { normal, scale }, y, N, C) {
  for (let n = 0; n < N; n += 1) {
    const at = n * C;
    let mean = 0;
    if (bias) {
      for (let i = 0; i < C; i += 1) mean += x[at + i];
      mean /= C;
    }
    let square = 0;
    for (let i = 0; i < C; i += 1) square += (x[at + i] - mean) ** 2;
    scale[n] = 1 / Math.sqrt(square / C + SMALLEST);
    for (let i = 0; i < C; i += 1) {
      normal[at + i] = (x[at + i] - mean) * scale[n];
      y[at + i] = normal[at + i] * weight[i] + (bias ? bias[i] : 0);
    }
  }
}

/** From the gradient of y to those of weight and bias, and to that of x, where it is added. */
export function normBackward(gradients, weight, { normal, scale }, N, C) {
  const { of: arriving, weight: ofWeight, bias: ofBias, x: ofX } = gradients;
  ofWeight.fill(0);
  if (ofBias) ofBias.fill(0);
  for (let n = 0; n < N; n += 1) {
    const at = n * C;
    let mean = 0;
    let along = 0; // how much of it goes along the normalised vector
    for (let i = 0; i < C; i += 1) {
      const one = arriving[at + i];
      ofWeight[i] += one * normal[at + i];
      if (ofBias) ofBias[i] += one;
      mean += one * weight[i];
      along += one * weight[i] * normal[at + i];
    }
    mean = ofBias ? mean / C : 0;
    along /= C;
    for (let i = 0; i < C; i += 1)
      ofX[at + i] += scale[n] * (arriving[at + i] * weight[i] - mean - normal[at + i] * along);
  }
}

// --- activations -----------------------------------------------------------------------------

/** GELU or the squared ReLU in place, and its slope at each number. */
export function activate(kind, x, slope, count) {
  if (kind === "squared_relu") {
    for (let i = 0; i < count; i += 1) {
      const positive = x[i] > 0 ? x[i] : 0;
      slope[i] = 2 * positive;
      x[i] = positive * positive;
    }
    return;
  }
  for (let i = 0; i < count; i += 1) {
    const number = x[i];
    const bell = Math.exp((-number * number) / 2);
    const below = normalBelow(number, bell);
    slope[i] = below + (number * bell) / Math.sqrt(2 * Math.PI);
    x[i] = number * below;
  }
}

// --- positions -------------------------------------------------------------------------------

/** The cosines and sines of the angles that rotary positions turn by, (positions, D / 2). */
export function rotaryTable(positions, D) {
  const half = D / 2;
  const [cosines, sines] = [0, 1].map(() => new Float32Array(positions * half));
  for (let t = 0; t < positions; t += 1)
    for (let i = 0; i < half; i += 1) {
      const angle = t * ROTARY_BASE ** ((-2 * i) / D);
      cosines[t * half + i] = Math.cos(angle);
      sines[t * half + i] = Math.sin(angle);
    }
  return { cosines, sines };
}

/** Turn each head's pairs of features in place: forward by 1, back by -1. */
export function turn(x, { cosines, sines }, rows, C, D, way) {
  const half = D / 2;
  for (const { start, length } of rows)
    for (let t = 0; t < length; t += 1)
      for (let at = (start + t) * C; at < (start + t + 1) * C; at += D)
        for (let i = 0; i < half; i += 1) {
          const [cosine, sine] = [cosines[t * half + i], way * sines[t * half + i]];
          const [first, second] = [x[at + i], x[at + half + i]];
          x[at + i] = first * cosine - second * sine;
          x[at + half + i] = first * sine + second * cosine;
        }
}

// --- attention -------------------------------------------------------------------------------

/** Call for each row of tokens and each head, with where its weights begin. */
function eachHead(rows, heads, D, call) {
  let from = 0;
  for (const { start, length } of rows)
    for (let head = 0; head < heads; head += 1) {
      call({ start, T: length, column: head * D, from });
      from += length * length;
    }
}

/** Call for each block of positions of a row: from `low` on, below `high`. */
function eachBlock(T, call) {
  for (let low = 0; low < T; low += BLOCK) call(low, Math.min(T, low + BLOCK));
}

/** Causal attention of each row of tokens; `weights` keeps each head's (T, T). */
export function attend(scratch, { queries, keys, values, weights, context }, rows, C, heads) {
  const D = C / heads;
  const [Q, K, V, result] = [queries, keys, values, context].map((data) => rowsOf(data, C));
  eachHead(rows, heads, D, ({ start, T, column, from }) => {
    const P = { data: weights, at: from, stride: T };
    const turned = transposed(partOf(V, start, column), T, D, scratch.take("values", T * D));
    weights.fill(0, from, from + T * T);
    eachBlock(T, (low, high) => {
      const rows = partOf(P, low, 0);
      multiply(partOf(Q, start + low, column), partOf(K, start, column), rows, high - low, high, D);
      for (let t = low; t < high; t += 1) softmaxRow(weights, from + t * T, t + 1, high, D);
      multiply(rows, turned, partOf(result, start + low, column), high - low, D, high);
    });
  });
}

/** Scores in place become weights: of the first `seen`, those up to `end` get none. */
function softmaxRow(numbers, at, seen, end, D) {
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

/** From the gradient of the context to those of queries, keys and values. */
export function attendBackward(scratch, gradients, kept, rows, C, heads) {
  const D = C / heads;
  const [Q, K, V] = [kept.queries, kept.keys, kept.values].map((data) => rowsOf(data, C));
  const { of, queries, keys, values } = gradients;
  const [arriving, ofQ, ofK, ofV] = [of, queries, keys, values].map((data) => rowsOf(data, C));
  eachHead(rows, heads, D, ({ start, T, column, from }) => {
    const here = (matrix, row = 0) => partOf(matrix, start + row, column);
    const turned = (name, matrix) => transposed(matrix, T, D, scratch.take(name, T * D));
    const square = (name) => scratch.take(name, T * T);
    const P = { data: kept.weights, at: from, stride: T };
    const S = rowsOf(square("scores"), T);
    S.data.fill(0, 0, T * T);
    const turnedK = turned("keys", here(K));
    eachBlock(T, (low, high) => {
      multiply(here(arriving, low), here(V), partOf(S, low, 0), high - low, high, D);
      for (let t = low; t < high; t += 1)
        softmaxBackward(kept.weights, from + t * T, S.data, t * T, t + 1, high, D);
      multiply(partOf(S, low, 0), turnedK, here(ofQ, low), high - low, D, high);
    });
    const turnedS = transposed(S, T, T, square("turned scores"));
    const turnedP = transposed(P, T, T, square("turned weights"));
    const turnedQ = turned("queries", here(Q));
    const turnedContext = turned("context", here(arriving));
    eachBlock(T, (low, high) => {
      const [size, left] = [high - low, T - low]; // a key is read by queries behind it
      multiply(partOf(turnedS, low, low), partOf(turnedQ, 0, low), here(ofK, low), size, D, left);
      multiply(
        partOf(turnedP, low, low),
        partOf(turnedContext, 0, low),
        here(ofV, low),
        size,
        D,
        left,
      );
    });
  });
}

/** The gradient of a row of weights, in place, becomes that of its scores. */
function softmaxBackward(weights, fromP, numbers, fromS, seen, end, D) {
  let shared = 0;
  for (let s = 0; s < seen; s += 1) shared += weights[fromP + s] * numbers[fromS + s];
  const scale = 1 / Math.sqrt(D);
  for (let s = 0; s < seen; s += 1)
    numbers[fromS + s] = weights[fromP + s] * (numbers[fromS + s] - shared) * scale;
  numbers.fill(0, fromS + seen, fromS + end);
}
