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
