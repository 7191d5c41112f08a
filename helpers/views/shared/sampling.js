// From logits to a drawn character, as helpers/models/generation.py does it.
import { softmax, sum } from "./mathematics.js";

const TINY = 2.2250738585072014e-308; // the smallest normal number: no temperature makes a NaN

/**
 * The probabilities that the next character is drawn with: first the temperature, then top-k,
 * then top-p. Among equal logits the lower ids come first; a temperature of 0 gives everything to
 * the largest logit; top-p keeps the character that crosses it. `null` leaves topK or topP out.
 */
export function nextProbabilities(logits, { temperature = 1, topK = null, topP = null } = {}) {
  const ids = Array.from(logits, (_, id) => id).sort(
    (one, other) => logits[other] - logits[one] || one - other,
  );
  const largest = logits[ids[0]];
  const divisor = Math.min(Math.max(temperature, TINY), Number.MAX_VALUE);
  const count = temperature === 0 ? 1 : (topK ?? ids.length);
  let ordered = softmax(
    ids.map((id, place) => (place < count ? (logits[id] - largest) / divisor : -Infinity)),
  );
  if (topP !== null) {
    let before = 0;
    ordered = ordered.map((p, place) => {
      const reached = place > 0 && before >= topP - 1e-6; // rounding alone may miss it
      before += p;
      return reached ? 0 : p;
    });
    const total = sum(ordered);
    ordered = ordered.map((p) => p / total);
  }
  const probabilities = new Array(ids.length);
  ids.forEach((id, place) => {
    probabilities[id] = ordered[place];
  });
  return probabilities;
}

/** One id: where the running sum of the probabilities first exceeds a random number in [0, 1). */
export function drawFrom(probabilities, random) {
  const wanted = random() * sum(probabilities);
  let running = 0;
  let last = 0;
  for (const [id, p] of probabilities.entries()) {
    running += p;
    if (p > 0) last = id;
    if (running > wanted) return id;
  }
  return last; // the sum was rounded
}
