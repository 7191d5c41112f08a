// The worker behind the trainer in the page: it trains one step after the other, hears in between
// what the page asks for, and tells what it has found.
import { randomFrom } from "../shared/mathematics.js";
import { Training } from "./training.js";

const EXAMINED = 20; // steps between two looks at the held-out texts
const WRITTEN = 120; // characters of a sample, at most

/** @type {Training | null} */
let training = null;
let number = 0; // of the training, as the page counts
let running = false;
let looking = { place: 0, layer: 0, head: 0 };
let milliseconds = 0; // spent on steps
let random = randomFrom(1); // of samples

function needed() {
  if (!training) throw new Error("Nothing is in training yet.");
  return training;
}

const say = (kind, more = {}) => postMessage({ kind, training: number, ...more });

const ASKED = {
  begin: ({ settings, training: its }) => {
    running = false;
    number = its;
    training = null;
    training = new Training(settings);
    [milliseconds, random] = [0, randomFrom(settings.seed)];
    const { texts, learner, alphabet } = training;
    looking = { place: 0, layer: learner.config.layers - 1, head: 0 };
    say("ready", {
      parameters: learner.parameters.data.length,
      config: learner.config,
      alphabet,
      least: texts.least,
      texts: texts.heldOut.map(({ text }) => text),
    });
    tellFindings();
  },
  run: () => {
    if (running || !training || training.hasEnded) return;
    running = true;
    goOn();
  },
  pause: () => {
    running = false;
  },
  step: () => {
    running = false;
    if (training && !training.hasEnded) learn(true);
  },
  look: ({ where }) => {
    looking = where;
    if (training) tellLook();
  },
  save: () => {
    if (training) say("file", { bytes: training.file() });
  },
};

function learn(findings) {
  const current = needed();
  const begun = performance.now();
  const loss = current.learn();
  milliseconds += performance.now() - begun;
  const { step, characters, hasEnded } = current;
  say("step", { step, loss, characters, milliseconds });
  if (findings || step % EXAMINED === 0 || hasEnded) tellFindings();
  if (hasEnded) say("ended");
}

function tellFindings() {
  const current = needed();
  say("findings", { step: current.step, ...current.examine() });
  say("sample", { step: current.step, text: current.write(WRITTEN, random) });
  tellLook();
}

function tellLook() {
  const { place, layer, head } = looking;
  say("look", { where: looking, ...needed().look(place, layer, head) });
}

/** One step, and the next one once waiting messages were heard. */
function goOn() {
  if (!running) return;
  guarded(() => {
    learn(false);
    running = running && !needed().hasEnded;
  });
  setTimeout(goOn);
}

/** What goes wrong is told to the page, and ends the run. */
function guarded(work) {
  try {
    work();
  } catch (error) {
    running = false;
    say("failed", { message: error instanceof Error ? error.message : String(error) });
  }
}

onmessage = ({ data }) => guarded(() => ASKED[data.kind](data));
