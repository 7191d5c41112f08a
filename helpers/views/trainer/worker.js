// The worker behind the trainer in the page: it trains one step after the other, hears in between
// what the page asks for, and tells what it has found.
import { randomFrom } from "../shared/mathematics.js";
import { Training } from "./training.js";

const EXAMINED = 20; // steps between two looks at the held-out texts
const WRITTEN = 120; // characters of a sample, at most
const SHOWN = 20; // held-out texts to choose from

/** @type {Training | null} */
let training = null;
let number = 0; // of the training, as the page counts
let running = false;
let timer = 0; // of the next step
let looking = { place: 0, layer: 0, head: 0 };
let milliseconds = 0; // spent on steps
let spent = 0; // on steps and on looks at what they did
let random = randomFrom(1); // of samples

function needed() {
  if (!training) throw new Error("Nothing is in training yet.");
  return training;
}

const say = (kind, more = {}) => postMessage({ kind, training: number, ...more });

const ASKED = {
  begin: ({ settings, training: its }) => {
    stop();
    const next = new Training(settings);
    const findings = next.examine(); // the last one stays where this fails
    [training, number, milliseconds, spent] = [next, its, 0, 0];
    random = randomFrom(settings.seed);
    const { texts, learner, optimiser, alphabet } = next;
    looking = { place: 0, layer: learner.config.layers - 1, head: 0 };
    say("ready", {
      parameters: learner.parameters.data.length,
      config: learner.config,
      steps: optimiser.recipe.steps,
      alphabet,
      least: texts.least,
      texts: texts.heldOut.slice(0, SHOWN).map(({ text }) => text),
    });
    report(findings);
  },
  run: () => {
    stop();
    if (!training || training.hasEnded) return;
    running = true;
    goOn();
  },
  pause: () => {
    stop();
    if (training) tellFindings();
  },
  step: () => {
    stop();
    if (training && !training.hasEnded) learn(true);
  },
  look: ({ where }) => {
    looking = where;
    if (training) tellLook(true);
  },
  save: () => {
    if (training) say("file", { bytes: training.file() });
  },
};

function stop() {
  clearTimeout(timer);
  running = false;
}

function learn(findings) {
  const current = needed();
  const begun = performance.now();
  const loss = current.learn();
  milliseconds += performance.now() - begun;
  const { step, characters, hasEnded } = current;
  say("step", { step, loss, characters, milliseconds, spent: spent + milliseconds });
  if (findings || step % EXAMINED === 0 || hasEnded) tellFindings();
  if (hasEnded) say("ended", { step });
}

function tellFindings() {
  const begun = performance.now();
  report(needed().examine());
  spent += performance.now() - begun;
}

function report(findings) {
  const current = needed();
  say("findings", { step: current.step, ...findings });
  say("sample", { text: current.write(WRITTEN, random) });
  tellLook(false);
}

function tellLook(asked) {
  const { place, layer, head } = looking;
  say("look", { asked, layer, head, ...needed().look(place, layer, head) });
}

/** One step, and the next one once waiting messages were heard. */
function goOn() {
  guarded(number, () => {
    learn(false);
    running = running && !needed().hasEnded;
  });
  if (running) timer = setTimeout(goOn);
}

/** What goes wrong is told to the page, and ends the run. */
function guarded(its, work) {
  try {
    work();
  } catch (error) {
    stop();
    const message = error instanceof Error ? error.message : String(error);
    postMessage({ kind: "failed", training: its, message });
  }
}

onmessage = ({ data }) =>
  guarded(data.training, () => {
    // What was meant for a training that couldn't begin, or has been replaced, is too late.
    if (data.kind === "begin" || data.training === number) ASKED[data.kind](data);
  });
