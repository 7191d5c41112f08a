// Products of matrices of 32-bit numbers: four rows times four rows at a time, so that a number
// that was read is used four times.

/**
 * A matrix inside an array: row i begins at `at + i * stride`.
 * @typedef {{ data: Float32Array, at: number, stride: number }} Matrix
 */

/**
 * A matrix whose rows follow each other.
 * @param {Float32Array} data
 * @param {number} columns
 * @returns {Matrix}
 */
export const rowsOf = (data, columns) => ({ data, at: 0, stride: columns });

/**
 * The part of a matrix that begins at a row and a column.
 * @param {Matrix} matrix
 * @returns {Matrix}
 */
export const partOf = ({ data, at, stride }, row, column) => ({
  data,
  at: at + row * stride + column,
  stride,
});

/**
 * result (n, m) = left (n, k) rightᵀ (k, m), where `right` is stored as (m, k). With `added`, it
 * is added to what stands there.
 * @param {Matrix} left
 * @param {Matrix} right
 * @param {Matrix} result
 */
export function multiply(left, right, result, n, m, k, added = false) {
  const { data: A, at: fromA, stride: strideA } = left;
  const { data: B, at: fromB, stride: strideB } = right;
  const { data: C, at: fromC, stride: strideC } = result;
  const wholeN = n - (n % 4);
  const wholeM = m - (m % 4);
  if (!added)
    for (let i = 0; i < n; i += 1) C.fill(0, fromC + i * strideC, fromC + i * strideC + m);
  for (let i = 0; i < wholeN; i += 4) {
    const a0 = fromA + i * strideA;
    const [a1, a2, a3] = [a0 + strideA, a0 + 2 * strideA, a0 + 3 * strideA];
    for (let j = 0; j < wholeM; j += 4) {
      const b0 = fromB + j * strideB;
      const [b1, b2, b3] = [b0 + strideB, b0 + 2 * strideB, b0 + 3 * strideB];
      let [c00, c01, c02, c03] = [0, 0, 0, 0];
      let [c10, c11, c12, c13] = [0, 0, 0, 0];
      let [c20, c21, c22, c23] = [0, 0, 0, 0];
      let [c30, c31, c32, c33] = [0, 0, 0, 0];
      for (let p = 0; p < k; p += 1) {
        const x0 = A[a0 + p];
        const x1 = A[a1 + p];
        const x2 = A[a2 + p];
        const x3 = A[a3 + p];
        let y = B[b0 + p];
        c00 += x0 * y;
        c10 += x1 * y;
        c20 += x2 * y;
        c30 += x3 * y;
        y = B[b1 + p];
        c01 += x0 * y;
        c11 += x1 * y;
        c21 += x2 * y;
        c31 += x3 * y;
        y = B[b2 + p];
        c02 += x0 * y;
        c12 += x1 * y;
        c22 += x2 * y;
        c32 += x3 * y;
        y = B[b3 + p];
        c03 += x0 * y;
        c13 += x1 * y;
        c23 += x2 * y;
        c33 += x3 * y;
      }
      let c = fromC + i * strideC + j;
      C[c] += c00;
      C[c + 1] += c01;
      C[c + 2] += c02;
      C[c + 3] += c03;
      c += strideC;
      C[c] += c10;
      C[c + 1] += c11;
      C[c + 2] += c12;
      C[c + 3] += c13;
      c += strideC;
      C[c] += c20;
      C[c + 1] += c21;
      C[c + 2] += c22;
      C[c + 3] += c23;
      c += strideC;
      C[c] += c30;
      C[c + 1] += c31;
      C[c + 2] += c32;
      C[c + 3] += c33;
    }
    multiplyPlainly(left, right, result, i, i + 4, wholeM, m, k);
  }
  multiplyPlainly(left, right, result, wholeN, n, 0, m, k);
}

/** Rows `fromI` to `toI` and columns `fromJ` to `toJ` of the result, one number at a time. */
function multiplyPlainly(left, right, result, fromI, toI, fromJ, toJ, k) {
  const [A, B, C] = [left.data, right.data, result.data];
  for (let i = fromI; i < toI; i += 1)
    for (let j = fromJ; j < toJ; j += 1) {
      const a = left.at + i * left.stride;
      const b = right.at + j * right.stride;
      let total = 0;
      for (let p = 0; p < k; p += 1) total += A[a + p] * B[b + p];
      C[result.at + i * result.stride + j] += total;
    }
}

/**
 * A matrix (n, m), turned over into the first n · m numbers of an array.
 * @param {Matrix} matrix
 * @param {Float32Array} into
 * @returns {Matrix} (m, n)
 */
export function transposed({ data, at, stride }, n, m, into) {
  for (let i = 0; i < n; i += 1) {
    const row = at + i * stride;
    for (let j = 0; j < m; j += 1) into[j * n + i] = data[row + j];
  }
  return rowsOf(into, n);
}
