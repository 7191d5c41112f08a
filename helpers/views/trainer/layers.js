// The layers of a transformer on the way back, and those that keep something for it, for rows of
// tokens that stand one behind the other: token n is row n, whatever text it is of. Each backward
// is derived on the page "Backward, by hand".
import { softmaxRow } from "../shared/forward.js";
import { normalBelow } from "../shared/mathematics.js";
import { multiply, partOf, rowsOf, transposed } from "../shared/products.js";

const BLOCK = 32; // queries at a time, so that few keys behind them are read

// --- linear ----------------------------------------------------------------------------------

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
