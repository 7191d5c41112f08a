// A training from its first weights to its last step, one step at a time, and what can be seen of
// the model in between.
import { isRight } from "../shared/answers.js";
import { randomFrom } from "../shared/mathematics.js";
import { Learner, packed } from "./learner.js";
import { Optimiser } from "./optimisers.js";
import { opened, written } from "./safetensors.js";
import { OwnText, Stories } from "./texts.js";
/** @import { Config } from "./learner.js" */
/** @import { Recipe } from "./optimisers.js" */
/** @import { Words } from "./stories.js" */

const ROWS = 16; // texts that are read together where nothing is learned

/**
 * @typedef {{
 *   model: Config, recipe: Recipe,
 *   batchSize: number, seed: number, alphabet: string,
 *   words: Words, longestStory: number, text?: string, file?: Uint8Array,
 * }} Settings
 */

/** Numbers of a normal distribution, two at a time (Box and Muller 1958). */
function normals(random) {
  /** @type {number | null} */
  let kept = null;
  return () => {
    if (kept !== null) {
      const one = kept;
      kept = null;
      return one;
    }
    const length = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    kept = length * Math.sin(angle);
    return length * Math.cos(angle);
  };
}

/** First weights, drawn as TransformerLM draws them. */
export function drawWeights(learner, random) {
  const normal = normals(random);
  for (const [name, , columns] of learner.shapes) {
    const numbers = learner.parameters.named[name];
    const spread = name === "head.weight" ? 0.02 : 0.1;
    if (columns === undefined) numbers.fill(/norm\.weight$/.test(name) ? 1 : 0);
    else if (spread === 0.02 || name.includes("embedding"))
      numbers.forEach((_, i) => (numbers[i] = spread * normal()));
    else numbers.forEach((_, i) => (numbers[i] = (2 * random() - 1) / Math.sqrt(columns)));
  }
}

/** A loss, unless it has grown without bound. */
function finite(loss, step) {
  if (Number.isFinite(loss)) return loss;
  throw new Error(
    step
      ? `The loss is no number any more after ${step} steps: the learning rate is too high.`
      : "The loss is no number: the model's weights are too large.",
  );
}

export class Training {
  /** @param {Settings} settings */
  constructor({ model, recipe, batchSize, seed, alphabet, words, longestStory, text, file }) {
    const found = file ? opened(file) : null;
    const length = (found?.config ?? model).contextLength;
    if (text === undefined && length < longestStory)
      throw new Error(
        `The model reads ${length} characters at once, and a story has up to ${longestStory}. ` +
          "Paste a text of yours first, and then open the file again.",
      );
    const known = found ? [...found.alphabet] : undefined;
    this.texts =
      text === undefined
        ? new Stories(words, known ?? [...alphabet])
        : new OwnText(text, length, known);
    this.alphabet = this.texts.alphabet;
    this.learner = new Learner(found?.config ?? { ...model, vocabSize: this.alphabet.length });
    this.random = randomFrom(seed);
    if (found)
      for (const [name, numbers] of Object.entries(this.learner.parameters.named))
        numbers.set(found.named[name]);
    else drawWeights(this.learner, this.random);
    this.optimiser = new Optimiser(this.learner, recipe);
    this.batchSize = batchSize;
    this.characters = 0; // learned from so far
  }

  get step() {
    return this.optimiser.step;
  }

  get hasEnded() {
    return this.step >= this.optimiser.recipe.steps;
  }

  /** Learn from one batch; returns the loss before the update, in nats per character. */
  learn() {
    const batch = packed(this.texts.batch(this.batchSize, this.random));
    const loss = finite(this.learner.learnFrom(batch), this.step);
    this.optimiser.update();
    this.characters += batch.ids.length;
    return loss;
  }

  /** The loss on the held-out texts, and how many of each kind of question are answered. */
  examine() {
    const { heldOut } = this.texts;
    const { vocabSize: V } = this.learner.config;
    const answers = {};
    let [nats, count] = [0, 0];
    for (let from = 0; from < heldOut.length; from += ROWS) {
      const texts = heldOut.slice(from, from + ROWS);
      const batch = packed(texts);
      const { probabilities, losses } = this.learner.read(batch);
      for (let n = 0; n < batch.ids.length; n += 1) nats += losses[n];
      count += batch.ids.length;
      texts.forEach(({ text, marks }, i) => {
        for (const [place, kind] of marks) {
          const n = batch.rows[i].start + place;
          const expected = probabilities.subarray(n * V, (n + 1) * V);
          const right = isRight(kind, text[place], expected, this.alphabet);
          const [had, all] = answers[kind] ?? [0, 0];
          answers[kind] = [had + Number(right), all + 1];
        }
      });
    }
    return { loss: finite(nats / count, this.step), answers };
  }

  /** Where one head looks in a held-out text: its characters, and rows of weights. */
  look(place, layer, head) {
    const { inputs, targets } = this.texts.heldOut[place];
    this.learner.read(packed([{ inputs, targets }]));
    return {
      characters: inputs.map((id) => this.alphabet[id]),
      weights: this.learner.weightsOf(layer, head, inputs.length),
    };
  }

  /** Write a text, one drawn character after the other. */
  write(most, random) {
    const { contextLength, vocabSize: V } = this.learner.config;
    const ids = [this.alphabet.indexOf(this.texts.start)];
    while (ids.length <= most) {
      const inputs = ids.slice(-contextLength);
      const batch = packed([{ inputs, targets: inputs.map(() => -1) }]);
      const { probabilities } = this.learner.read(batch);
      const row = probabilities.subarray((inputs.length - 1) * V, inputs.length * V);
      let left = random();
      const id = row.findIndex((probability) => (left -= probability) < 0);
      ids.push(id < 0 ? V - 1 : id);
      if (this.texts.least !== null && this.alphabet[ids[ids.length - 1]] === "\n") break;
    }
    return ids
      .slice(1)
      .map((id) => this.alphabet[id])
      .join("");
  }

  /** The model as a file that helpers can read. */
  file() {
    const { config, shapes, parameters } = this.learner;
    return written(config, this.alphabet.join(""), shapes, parameters.named);
  }
}
