// A little mathematics.

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** @type {(one: number[], other: number[]) => number} */
export const dot = (one, other) => sum(one.map((number, i) => number * other[i]));
/** @type {(rows: number[][]) => number[][]} */
export const transpose = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));

/**
 * Rows (T, D) times columns (D, S).
 * @param {number[][]} one
 * @param {number[][]} other
 */
export function matmul(one, other) {
  const columns = transpose(other);
  return one.map((row) => columns.map((column) => dot(row, column)));
}

/**
 * Weights from scores; a score of -Infinity gets none.
 * @param {number[]} scores
 */
export function softmax(scores) {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = sum(powers);
  return powers.map((power) => power / total);
}

/**
 * The probability that a standard normal number is below x, given `bell`, exp(-x² / 2). JavaScript
 * has no erf: this is Abramowitz and Stegun 1964, formula 7.1.26, within 1.5e-7 of it; float32 near
 * 1 is no finer than 1.2e-7.
 * @param {number} x
 * @param {number} bell
 */
export function normalBelow(x, bell) {
  const t = 1 / (1 + (0.3275911 / Math.SQRT2) * Math.abs(x));
  const sum =
    t *
    (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  const tail = 0.5 * sum * bell;
  return x > 0 ? 1 - tail : tail;
}

/**
 * Random numbers in [0, 1) from a seed (mulberry32), the same in every browser.
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
