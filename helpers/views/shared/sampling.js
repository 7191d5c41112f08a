// From logits to a drawn token, as helpers/models/generation.py does it.
import { sum } from "./mathematics.js";

const TINY = 2.2250738585072014e-308; // the smallest normal number: no temperature makes a NaN

/**
 * The probabilities that the next token is drawn with: first the temperature, then top-k, then
 * top-p. Among equal logits the lower ids come first; a temperature of 0 gives everything to the
 * largest logit; top-p keeps the token that crosses it. `null` leaves topK or topP out.
 */
export function nextProbabilities(logits, { temperature = 1, topK = null, topP = null } = {}) {
  const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
  const divisor = Math.min(Math.max(temperature, TINY), Number.MAX_VALUE);
  const powers = new Float64Array(logits.length);
  for (let id = 0; id < powers.length; id += 1)
    powers[id] = Math.exp((logits[id] - largest) / divisor);
  const inOrder = (ids) => ids.sort((one, other) => logits[other] - logits[one] || one - other);
  let kept = Array.from(powers.keys());
  if (temperature === 0) kept = [logits.indexOf(largest)];
  else if (topK !== null) kept = inOrder(kept).slice(0, topK);
  if (topP !== null) kept = nucleus(powers, kept, topP, inOrder);
  const total = sum(kept.map((id) => powers[id]));
  const probabilities = new Array(powers.length).fill(0);
  for (const id of kept) probabilities[id] = powers[id] / total;
  return probabilities;
}

/**
 * The most probable ids that reach topP together. Ids that are left out before the others are put
 * in order have too little even together.
 */
function nucleus(powers, ids, topP, inOrder) {
  const total = sum(ids.map((id) => powers[id]));
  const least = ((1 - topP) * total) / ids.length;
  const ordered = inOrder(ids.filter((id) => powers[id] >= least));
  let before = 0;
  const end = ordered.findIndex((id, place) => {
    const reached = place > 0 && before >= topP - 1e-6; // rounding alone may miss it
    before += powers[id] / total;
    return reached;
  });
  return end < 0 ? ordered : ordered.slice(0, end);
}

/** One id: where the running sum of the probabilities first exceeds a random number in [0, 1). */
export function drawFrom(probabilities, random) {
  const wanted = random() * sum(probabilities);
  let running = 0;
  let last = 0;
  for (let id = 0; id < probabilities.length; id += 1) {
    running += probabilities[id];
    if (probabilities[id] > 0) last = id;
    if (running > wanted) return id;
  }
  return last; // the sum was rounded
}
