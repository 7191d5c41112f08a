// Whether a model answers the questions that stories ask, as helpers/text/probes.py does.

/**
 * Whether the character at a marked place is expected: an "s" or none, she against he, else the
 * right character.
 * @param {string} kind of the question
 * @param {string} character the right one
 * @param {ArrayLike<number>} probabilities of the alphabet's characters
 * @param {string[]} alphabet
 */
export function isRight(kind, character, probabilities, alphabet) {
  const of = (one) => probabilities[alphabet.indexOf(one)];
  if (kind === "agreement" || kind.startsWith("attractor"))
    return of("s") > 0.5 === (character === "s");
  if (kind === "pronoun") {
    const [she, he] = [of("s") + of("S"), of("h") + of("H")];
    return "sS".includes(character) ? she > he : he > she;
  }
  const right = of(character);
  return alphabet.every((_, i) => probabilities[i] <= right);
}
