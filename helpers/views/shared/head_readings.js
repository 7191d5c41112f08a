// What all heads of a model do with a text, as Python has packed it, and scores of each head.

import { fixed } from "./words.js";

/**
 * A reading: `row(layer, head, query)` are a query's weights as bytes, up to the last key that it
 * sees; `weights(layer, head)` has a row of numbers for each query; `off` is what was switched off
 * while the text was read; `next` are pairs of a token and a probability, or null;
 * `without(layer, head)` the same where that head is off, or null where that isn't known;
 * `lost(layer, head)` are the nats that the first of `next` loses then.
 * @typedef {[string, number][]} Next
 * @typedef {{
 *   text: string, tokens: string[], same: number[], layers: number, heads: number, causal: boolean,
 *   off: string[],
 *   bytes: (layer: number, head: number, query: number, key: number) => number,
 *   row: (layer: number, head: number, query: number) => Uint8Array,
 *   weights: (layer: number, head: number) => number[][],
 *   next: Next | null, without: ((layer: number, head: number) => Next) | null,
 *   lost: ((layer: number, head: number) => number) | null,
 * }} Reading
 */

/**
 * @param {any} packed its weights are bytes, or base64
 * @returns {Reading}
 */
export function unpackReading(packed) {
  const { text, tokens, same, layers, heads, causal, off = [], next, without } = packed;
  const T = tokens.length;
  /** @type {Uint8Array} */
  const stored = typeof packed.weights === "string" ? bytesOf(packed.weights) : packed.weights;
  const size = causal ? (T * (T + 1)) / 2 : T * T;
  const row = (layer, head, query) => {
    const before = causal ? (query * (query + 1)) / 2 : query * T;
    const start = (layer * heads + head) * size + before;
    return stored.subarray(start, start + (causal ? query + 1 : T));
  };
  const bytes = (layer, head, query, key) => row(layer, head, query)[key] ?? 0;
  const weights = (layer, head) =>
    tokens.map((_, i) => tokens.map((_, j) => bytes(layer, head, i, j) / 255));
  const reading = { text, tokens, same, layers, heads, causal, off, bytes, row, weights, next };
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
function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/**
 * A score of a head. `most` is its largest possible number, or null for the largest found; where
 * `low`, small numbers come first. `does` goes on with "the stronger its colour,"; a reading that
 * it doesn't fit lacks what it `needs`; `unit` says what its numbers mean, where they aren't
 * weights.
 * @typedef {{
 *   label: string, does: string, low?: boolean, most: (reading: Reading) => number | null,
 *   fits: (reading: Reading) => boolean, needs: string, unit?: (reading: Reading) => string,
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
    needs: "two tokens",
    of: (reading, layer, head) => later(reading, layer, head, (row) => row[0] / 255),
  },
  {
    label: "looks one token back",
    does: "the more it looks one token back",
    most: () => 1,
    fits: ({ tokens }) => tokens.length > 1,
    needs: "two tokens",
    of: (reading, layer, head) => later(reading, layer, head, (row, i) => row[i - 1] / 255),
  },
  {
    label: "looks behind an earlier copy (induction)",
    does: "the more it looks right behind an earlier copy of the token",
    most: () => 1,
    fits: ({ same }) => same.some((first, i) => first < i),
    needs: "a token that comes twice",
    of: prefixMatching,
  },
  {
    label: "looks at itself",
    does: "the more a token looks at itself",
    most: () => 1,
    fits: ({ tokens }) => tokens.length > 1,
    needs: "two tokens",
    of: (reading, layer, head) => later(reading, layer, head, (row, i) => row[i] / 255),
  },
  {
    label: "is sharp (entropy in nats, lowest first)",
    does: "the lower the entropy of its weights",
    low: true,
    most: ({ tokens }) => Math.log(tokens.length),
    fits: ({ tokens }) => tokens.length > 1,
    needs: "two tokens",
    unit: ({ tokens }) =>
      "Entropy is 0 nats where a token gives all its weight to one token; if the last one gave " +
      `the same to all ${tokens.length}, it would be ln ${tokens.length} = ` +
      `${fixed(Math.log(tokens.length))} nats.`,
    of: (reading, layer, head) => later(reading, layer, head, entropy),
  },
  {
    label: "is missed by the next token (nats lost)",
    does: "the more nats the most probable next token loses without it",
    most: () => null,
    fits: ({ lost }) => lost !== null,
    needs: "a recorded sentence with everything on",
    unit: () =>
      "A loss of 1 nat leaves a token 1/e of its probability, about 37%; a loss below 0 is a gain.",
    of: (reading, layer, head) => reading.lost?.(layer, head) ?? 0,
  },
];

/** The mean over all queries but the first, which has nothing before it. */
function later({ tokens, row }, layer, head, of) {
  let total = 0;
  for (let i = 1; i < tokens.length; i += 1) total += of(row(layer, head, i), i);
  return total / (tokens.length - 1);
}

// Of each byte that stands for a weight w: -w log w.
const TERMS = Float64Array.from({ length: 256 }, (_, byte) =>
  byte === 0 ? 0 : (-byte / 255) * Math.log(byte / 255),
);

function entropy(row) {
  let total = 0;
  for (let j = 0; j < row.length; j += 1) total += TERMS[row[j]];
  return total;
}

/** The mean weight right behind earlier copies of the token that asks, where there are any. */
function prefixMatching({ same, row }, layer, head) {
  let [asked, total] = [0, 0];
  for (let i = 1; i < same.length; i += 1) {
    if (same[i] === i) continue;
    asked += 1;
    const weights = row(layer, head, i);
    for (let j = 1; j <= i; j += 1) if (same[j - 1] === same[i]) total += weights[j];
  }
  return total / 255 / asked;
}

/** The mean weight of all heads' later queries on the second token. */
export function onSecond({ tokens, layers, heads, bytes }) {
  let total = 0;
  for (let layer = 0; layer < layers; layer += 1)
    for (let head = 0; head < heads; head += 1)
      for (let i = 2; i < tokens.length; i += 1) total += bytes(layer, head, i, 1);
  return total / 255 / (layers * heads * (tokens.length - 2));
}
