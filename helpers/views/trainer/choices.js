// The controls of the trainer in the page: its buttons, and what is trained, on what, and how.
import { button, field, menu, slider } from "../shared/controls.js";
import { fileField } from "../shared/files.js";
import { h } from "../shared/page.js";
import { fixed, several } from "../shared/words.js";

const FACTORS = [0.25, 0.5, 1, 2, 4]; // of a recipe's learning rates
const LARGEST_FILE = 16e6; // bytes

export function mainControls({ run, step, anew, save, open }) {
  const runs = button({ name: "run", label: "Train", press: run });
  const element = h(
    "div",
    { class: "controls" },
    runs,
    button({ name: "step", label: "One step", press: step }),
    button({ name: "save", label: "Save the model", press: save }),
    button({ name: "anew", label: "New model", press: anew }),
    fileField({ name: "open", label: "Open a model", accept: ".safetensors", open }),
  );
  return { element, run: runs };
}

/** The bytes of a file that a reader has handed over. */
export async function bytesOf(file) {
  if (file.size > LARGEST_FILE) throw new Error("The file is too large for a model of this page.");
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error("The file couldn't be read.");
  }
}

/** What the next model is, and how it is trained. */
export function settingsControls(state, chosen, changed) {
  const set = (name, read) => (value) => {
    chosen[name] = read ? read(value) : value;
    changed();
  };
  const list = (name, label, numbers) =>
    menu({
      name,
      label,
      options: numbers.map(String),
      value: String(chosen[name]),
      change: set(name, Number),
    });
  const own = h("textarea", {
    class: "own",
    "data-control": "own text",
    placeholder:
      "Empty: stories of little-world. Or paste a text of yours, of 2,000 characters or more, " +
      "up to 200 kB; it stays in this page.",
    oninput: () => set("text")(own.value),
  });
  return h(
    "div",
    { class: "controls" },
    menu({
      name: "recipe",
      label: "Recipe",
      options: state.recipes.map(([name]) => name),
      value: chosen.recipe,
      change: set("recipe"),
    }),
    slider({
      name: "rate",
      label: "Learning rate",
      choices: FACTORS,
      value: 1,
      text: (factor) => `${factor} × the recipe's`,
      change: set("factor"),
    }),
    list("steps", "Steps", state.choices.steps),
    list("width", "Width", state.choices.width),
    list("heads", "Heads", state.choices.heads),
    list("layers", "Blocks", state.choices.layers),
    h(
      "label",
      {},
      "Seed ",
      field({ name: "seed", label: "Seed", value: 1, step: 1, change: set("seed", whole) }),
    ),
    h("label", {}, "Text ", own),
  );
}

const whole = (number) => Math.max(0, Math.floor(number)) % 4294967295;

/** What the worker gets for a training. */
export function settingsOf(state, chosen, file) {
  const { model, training } = recipeOf(state, chosen);
  const { warmup, ...rest } = training;
  const { width, heads, layers, steps, seed, text } = chosen;
  return {
    model: { ...model, width, heads, layers, contextLength: state.contextLength },
    recipe: {
      ...rest,
      ...ratesOf(training, chosen),
      steps,
      warmupSteps: Math.ceil(warmup * steps),
    },
    batchSize: state.batchSize,
    alphabet: state.alphabet,
    longestStory: state.longestStory,
    words: state.words,
    seed,
    text: text || undefined,
    file,
  };
}

const recipeOf = (state, { recipe }) => state.recipes.find(([name]) => name === recipe)[1];

function ratesOf({ learningRate, muonLearningRate }, { factor }) {
  return { learningRate: factor * learningRate, muonLearningRate: factor * muonLearningRate };
}

export const sizesInWords = ({ width, heads, layers }) =>
  `width ${width}, ${several(heads, "head")}, ${several(layers, "block")}`;

/** What was chosen, in words. */
export function description(state, chosen) {
  const { width, heads, layers, steps, seed, text } = chosen;
  const { training } = recipeOf(state, chosen);
  const rates = ratesOf(training, chosen);
  const muon = training.optimizer === "muon" ? `Muon ${shortly(rates.muonLearningRate)}, ` : "";
  const source = text ? `your ${several([...text].length, "character")}` : "little-world";
  return (
    `${sizesInWords({ width, heads, layers })}; ${steps} steps on ${source}, ` +
    `at rates of ${muon}AdamW ${shortly(rates.learningRate)}; seed ${seed}`
  );
}

const shortly = (number) => String(Number(fixed(number, 5)));
