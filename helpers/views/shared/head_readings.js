// What all heads of a model do with a text, as Python has packed it, and scores of each head.

import { sum } from "./mathematics.js";

/**
 * A reading: `weights(layer, head)` has a row for each query; `next` are pairs of a token and a
 * probability, or null; `without(layer, head)` the same where that head is off, or null where that
 * isn't known; `lost(layer, head)` are the nats that the first of `next` loses then.
 * @typedef {[string, number][]} Next
 * @typedef {{
 *   text: string, tokens: string[], same: number[], layers: number, heads: number, causal: boolean,
 *   bytes: (layer: number, head: number, query: number, key: number) => number,
 *   weights: (layer: number, head: number) => number[][],
 *   next: Next | null, without: ((layer: number, head: number) => Next) | null,
 *   lost: ((layer: number, head: number) => number) | null,
 * }} Reading
 */

/**
 * @param {any} packed
 * @returns {Reading}
 */
export function unpackReading(packed) {
  const { text, tokens, same, layers, heads, causal, next, without } = packed;
  const T = tokens.length;
  const stored = bytesOf(packed.weights);
  const size = causal ? (T * (T + 1)) / 2 : T * T;
  const bytes = (layer, head, query, key) => {
    if (causal && key > query) return 0;
    const place = causal ? (query * (query + 1)) / 2 + key : query * T + key;
    return stored[(layer * heads + head) * size + place];
  };
  const weights = (layer, head) =>
    tokens.map((_, i) => tokens.map((_, j) => bytes(layer, head, i, j) / 255));
  const reading = { text, tokens, same, layers, heads, causal, bytes, weights, next };
  if (!without) return { ...reading, without: null, lost: null };
  const { vocabulary } = without;
  const [pairs, lost] = [without.next, without.lost].map(
    (one) => new DataView(bytesOf(one).buffer),
  );
  const count = pairs.byteLength / 4 / (layers * heads);
  return {
    ...reading,
    without: (layer, head) =>
      Array.from({ length: count }, (_, i) => {
        const place = 4 * ((layer * heads + head) * count + i);
        return [vocabulary[pairs.getUint16(place, true)], pairs.getUint16(place + 2, true) / 65535];
      }),
    lost: (layer, head) => lost.getInt16(2 * (layer * heads + head), true) / 1000,
  };
}

/** @param {string} text in base64 */
const bytesOf = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

/**
 * A score of a head. `most` is its largest possible number, or null for the largest found; where
 * `low`, small numbers come first. `does` goes on with "the stronger its colour,".
 * @typedef {{
 *   label: string, does: string, low?: boolean, most: (reading: Reading) => number | null,
 *   fits: (reading: Reading) => boolean,
 *   of: (reading: Reading, layer: number, head: number) => number,
 * }} Score
 * @type {Score[]}
 */
export const SCORES = [
  {
    label: "rests on the first token",
    does: "the more it looks at the first token",
    most: () => 1,
    fits: ({ tokens }) => tokens.length > 1,
    of: (reading, layer, head) => later(reading.weights(layer, head), (row) => row[0]),
  },
  {
    label: "looks one token back",
    does: "the more it looks one token back",
    most: () => 1,
    fits: ({ tokens }) => tokens.length > 1,
    of: (reading, layer, head) => later(reading.weights(layer, head), (row, i) => row[i - 1]),
  },
  {
    label: "looks behind an earlier copy (induction)",
    does: "the more it looks right behind an earlier copy of the token",
    most: () => 1,
    fits: ({ same }) => same.some((first, i) => first < i),
    of: prefixMatching,
  },
  {
    label: "looks at itself",
    does: "the more a token looks at itself",
    most: () => 1,
    fits: ({ tokens }) => tokens.length > 1,
    of: (reading, layer, head) => later(reading.weights(layer, head), (row, i) => row[i]),
  },
  {
    label: "is sharp (entropy in nats, lowest first)",
    does: "the lower the entropy of its weights",
    low: true,
    most: ({ tokens }) => Math.log(tokens.length),
    fits: ({ tokens }) => tokens.length > 1,
    of: (reading, layer, head) => later(reading.weights(layer, head), entropy),
  },
  {
    label: "is missed by the next token (nats lost)",
    does: "the more nats the most probable next token loses without it",
    most: () => null,
    fits: ({ lost }) => lost !== null,
    of: (reading, layer, head) => reading.lost?.(layer, head) ?? 0,
  },
];

/** The mean over all queries but the first, which has nothing before it. */
const later = (rows, of) => sum(rows.slice(1).map((row, i) => of(row, i + 1))) / (rows.length - 1);

const entropy = (row) => -sum(row.map((weight) => (weight > 0 ? weight * Math.log(weight) : 0)));

/** The mean weight right behind earlier copies of the token that asks, where there are any. */
function prefixMatching({ same, weights }, layer, head) {
  const asked = same.map((first, i) => i).filter((i) => same[i] < i);
  const behind = (row, i) => sum(row.filter((_, j) => j > 0 && j <= i && same[j - 1] === same[i]));
  const rows = weights(layer, head);
  return sum(asked.map((i) => behind(rows[i], i))) / asked.length;
}
