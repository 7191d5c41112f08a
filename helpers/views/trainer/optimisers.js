// What a step of training does with the gradients: AdamW alone, or Muon for the matrices between
// hidden vectors and AdamW for everything else, as TrainConfig names them.
import { multiply, rowsOf, transposed } from "../shared/products.js";
/** @import { Learner } from "./learner.js" */

const BETAS = [0.9, 0.99];
const LEAST = 1e-8;
const MOMENTUM = 0.95;
// Newton and Schulz's iteration: what it multiplies a matrix, its cube and its fifth power by.
const COEFFICIENTS = [3.4445, -4.775, 2.0315];
const ROUNDS = 5;
const SHORTEST = 1e-7;

/**
 * How to train; its options are those of TrainConfig.
 * @typedef {{
 *   optimizer: "adamw" | "muon", steps: number, warmupSteps: number, learningRate: number,
 *   muonLearningRate: number, schedule: "cosine" | "linear", weightDecay: number,
 *   gradientClip: number,
 * }} Recipe
 */

/**
 * The share of the highest learning rate at a step, 1 for the first.
 * @param {Recipe} recipe
 */
export function shareAt({ steps, warmupSteps, schedule }, step) {
  if (step <= warmupSteps) return step / warmupSteps;
  const done = (step - 1 - warmupSteps) / (steps - warmupSteps);
  return schedule === "cosine" ? (1 + Math.cos(Math.PI * done)) / 2 : 1 - done;
}

export class Optimiser {
  /**
   * @param {Learner} learner
   * @param {Recipe} recipe
   */
  constructor(learner, recipe) {
    this.learner = learner;
    this.recipe = recipe;
    this.step = 0;
    this.means = new Float32Array(learner.parameters.data.length);
    this.squares = new Float32Array(learner.parameters.data.length);
    this.hidden = new Set(
      learner.shapes
        .filter(([name, , columns]) => recipe.optimizer === "muon" && isHidden(name, columns))
        .map(([name]) => name),
    );
    this.orthogonalise = orthogonaliser();
  }

  /** One update of all parameters, from the gradients that the learner has. */
  update() {
    const { parameters, gradients, shapes } = this.learner;
    this.step += 1;
    clip(gradients.data, this.recipe.gradientClip);
    const share = shareAt(this.recipe, this.step);
    let at = 0;
    for (const [name, ...sizes] of shapes) {
      const weight = parameters.named[name];
      const own = (numbers) => numbers.subarray(at, at + weight.length);
      if (this.hidden.has(name))
        this.#muon(weight, gradients.named[name], own(this.means), sizes, share);
      else
        this.#adamw(weight, gradients.named[name], own(this.means), own(this.squares), {
          rate: share * this.recipe.learningRate,
          decay: sizes.length > 1 ? this.recipe.weightDecay : 0,
        });
      at += weight.length;
    }
  }

  #adamw(weight, gradient, means, squares, { rate, decay }) {
    const [beta1, beta2] = BETAS;
    const [whole1, whole2] = BETAS.map((beta) => 1 - beta ** this.step);
    for (let i = 0; i < weight.length; i += 1) {
      means[i] += (1 - beta1) * (gradient[i] - means[i]);
      squares[i] += (1 - beta2) * (gradient[i] * gradient[i] - squares[i]);
      const size = Math.sqrt(squares[i] / whole2) + LEAST;
      weight[i] = (1 - rate * decay) * weight[i] - (rate * means[i]) / whole1 / size;
    }
  }

  /** @param {number[]} sizes */
  #muon(weight, gradient, means, sizes, share) {
    const [rows, columns] = sizes;
    const rate = share * this.recipe.muonLearningRate;
    const ahead = new Float32Array(weight.length);
    for (let i = 0; i < weight.length; i += 1) {
      means[i] += (1 - MOMENTUM) * (gradient[i] - means[i]);
      ahead[i] = gradient[i] + MOMENTUM * (means[i] - gradient[i]);
    }
    const update = this.orthogonalise(ahead, rows, columns);
    const longer = Math.max(1, rows / columns) ** 0.5;
    for (let i = 0; i < weight.length; i += 1)
      weight[i] = (1 - rate * this.recipe.weightDecay) * weight[i] - rate * longer * update[i];
  }
}

/** Muon's parameters: matrices, but neither an embedding nor the last layer. */
const isHidden = (name, columns) =>
  columns !== undefined && !name.includes("embedding") && name !== "head.weight";

/** Scale gradients that are longer than `most` together to that length. */
function clip(gradients, most) {
  let square = 0;
  for (let i = 0; i < gradients.length; i += 1) square += gradients[i] * gradients[i];
  const scale = most / (Math.sqrt(square) + 1e-6);
  if (scale < 1) for (let i = 0; i < gradients.length; i += 1) gradients[i] *= scale;
}

/**
 * A function that keeps the directions of a matrix (rows, columns) and brings its singular values
 * near 1, as on the page on Muon.
 */
export function orthogonaliser() {
  const [a, b, c] = COEFFICIENTS;
  return (matrix, rows, columns) => {
    const tall = rows > columns;
    const [n, m] = tall ? [columns, rows] : [rows, columns];
    let length = 0;
    for (let i = 0; i < matrix.length; i += 1) length += matrix[i] * matrix[i];
    const scale = 1 / Math.max(Math.sqrt(length), SHORTEST);
    let x = matrix.map((number) => number * scale);
    if (tall) x = transposed(rowsOf(x, columns), rows, columns, new Float32Array(x.length)).data;
    const [square, odd] = [0, 1].map(() => new Float32Array(n * n));
    const [turned, next] = [0, 1].map(() => new Float32Array(n * m));
    for (let round = 0; round < ROUNDS; round += 1) {
      multiply(rowsOf(x, m), rowsOf(x, m), rowsOf(square, n), n, n, m);
      multiply(rowsOf(square, n), rowsOf(square, n), rowsOf(odd, n), n, n, n); // symmetric
      for (let i = 0; i < n * n; i += 1) odd[i] = b * square[i] + c * odd[i];
      transposed(rowsOf(x, m), n, m, turned);
      multiply(rowsOf(odd, n), rowsOf(turned, n), rowsOf(next, m), n, m, n);
      for (let i = 0; i < n * m; i += 1) x[i] = a * x[i] + next[i];
    }
    return tall ? transposed(rowsOf(x, m), n, m, turned).data : x;
  };
}
