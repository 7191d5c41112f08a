import { lossChart } from "./shared/loss_chart.js";
import { h } from "./shared/page.js";
import {
  bytesOf,
  description,
  dropsFiles,
  mainControls,
  settingsControls,
  settingsOf,
} from "./trainer/choices.js";
import { panel } from "./trainer/panel.js";
import WORKER_CODE from "./trainer/worker.js?text";

const LEARNING_STYLE = `
.aos-view .sample {
  font-family: ui-monospace, monospace; white-space: pre-wrap; margin: 0.35rem 0; min-height: 3em;
}
.aos-view textarea.own { width: 34rem; max-width: 100%; min-height: 4.5rem; }
.aos-view input[type=file], .aos-view select { max-width: 100%; }
.aos-view .wrong { font-weight: 600; }
.aos-view .wrong:empty { display: none; }
.aos-view .dropping { outline: 3px dashed var(--queries); }
`;
const FILE_NAME = "model.safetensors";

/** A transformer that learns in the page: its loss, its answers, where it looks, what it writes. */
export function render({ state, el }) {
  const chosen = {
    ...{ recipe: state.recipes[0][0], factor: 1, seed: 1, text: "" },
    ...{ steps: 0, width: 0, heads: 0, layers: 0 },
    ...state.sizes,
  };
  const plan = h("p", { class: "note", "data-value": "plan" });
  const status = h("p", { class: "note", "aria-live": "polite", "data-value": "status" });
  const wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
  const shown = h("div");
  /** @type {ReturnType<typeof panel> | null} */
  let seen = null; // what is shown of the model in training
  /** @type {Worker | null} */
  let worker = null;
  let training = 0; // the number of the one that is shown
  let wanted = 0; // and of the last one that was asked for
  let steps = 0; // that it takes in all
  let running = false;
  let paused = false; // because nobody sees the page
  let ended = false;

  const ask = (kind, more = {}) => worker?.postMessage({ kind, ...more });
  const say = (words) => {
    status.textContent = words;
  };
  const setRunning = (on) => {
    running = on;
    controls.run.textContent = on ? "Pause" : "Train";
  };
  const fail = (message) => {
    [wrong.textContent, paused, wanted] = [message, false, training];
    setRunning(false);
    say("Nothing is being trained.");
  };
  const chartOf = (alphabet, levels) => {
    const most = Math.max(0.5, Math.ceil(2 * Math.log(alphabet.length)) / 2);
    const drawn = levels.filter(([, loss]) => loss < most);
    return lossChart({ steps: chosen.steps, most, levels: drawn });
  };
  const tellPlan = () => {
    const which = seen ? "A new model would be" : "The model";
    plan.textContent = `${which}: ${description(state, chosen)}.`;
    if (!seen)
      shown.replaceChildren(chartOf(state.alphabet, chosen.text ? [] : state.levels).element);
  };

  /**
   * Ask for a new model, or for that of a file; the last one stays where this fails.
   * @param {Uint8Array} [file]
   */
  const begin = (file) => {
    wrong.textContent = "";
    setRunning(false);
    if (!worker)
      worker = startWorker(heard, (message) => {
        worker = null;
        fail(message);
      });
    if (!worker) return;
    say(file ? "The file is being read." : "The first weights are being drawn.");
    wanted += 1;
    ask("begin", { settings: settingsOf(state, chosen, file), training: wanted });
  };
  const HEARD = {
    ready: (data) => {
      [training, steps, ended] = [data.training, chosen.steps, false];
      const levels = data.least === null ? [] : [...state.levels];
      // The page's own stories have a floor of their own, a little beside that of all.
      if (levels.length) levels[0] = [levels[0][0], data.least];
      const chart = chartOf(data.alphabet, levels);
      seen = panel(data, steps, chart, (where) => ask("look", { where }));
      shown.replaceChildren(seen.element);
      tellPlan();
      if (!running) say("A model is there, and has learned nothing here yet.");
    },
    step: (data) => seen?.step(data, running),
    findings: (data) => {
      const sentence = seen?.examined(data, running);
      if (sentence && data.step) say(running ? sentence : `Paused. ${sentence}`);
    },
    sample: (data) => seen?.sample(data, running),
    look: (data) => seen?.look(data, running),
    file: ({ bytes }) => {
      download(bytes, FILE_NAME);
      say(`The model is saved as ${FILE_NAME}.`);
    },
    ended: () => {
      ended = true;
      setRunning(false);
      say(`All ${steps} steps are done: ${seen?.inWords()}.`);
    },
    failed: ({ message }) => fail(message),
  };
  const heard = ({ data }) => {
    if (!el.isConnected) ask("pause"); // a notebook has taken the view away
    const isNews = data.training === wanted && ["ready", "failed"].includes(data.kind);
    if (isNews || data.training === training) HEARD[data.kind](data);
  };

  const isOver = () => {
    if (ended) say("All steps are done. Save the model, or take a new one.");
    return ended;
  };
  const pause = (words) => {
    setRunning(false);
    ask("pause");
    say(words);
  };
  const run = () => {
    if (running) {
      pause("Paused.");
      return;
    }
    if (isOver()) return;
    if (!seen) begin();
    if (!worker) return;
    setRunning(true);
    say("In training.");
    ask("run");
  };
  const step = () => {
    setRunning(false);
    if (isOver()) return;
    if (!seen) begin();
    ask("step");
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && running) {
      pause("Paused while you look at another page.");
      paused = true;
    } else if (!document.hidden && paused) {
      paused = false;
      if (!running) run();
    }
  });

  const open = async (file) => {
    if (!file) return;
    try {
      begin(await bytesOf(file));
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
  };
  const save = () => {
    if (seen) {
      say("The model is being saved.");
      ask("save");
    } else wrong.textContent = "There is no model yet: train one first.";
  };
  const controls = mainControls({ run, step, anew: () => begin(), save, open });
  el.append(
    h("style", {}, LEARNING_STYLE),
    controls.element,
    settingsControls(state, chosen, tellPlan),
    plan,
    status,
    wrong,
    shown,
  );
  dropsFiles(el, open);
  tellPlan();
}

/** Start the worker from its text, which needs no address; null where that is forbidden. */
function startWorker(heard, fail) {
  const refused = "This browser doesn't let the page start a worker: nothing can be trained here.";
  try {
    const url = URL.createObjectURL(new Blob([WORKER_CODE], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = heard;
    worker.onerror = () => fail(refused);
    return worker;
  } catch {
    fail(refused);
    return null;
  }
}

function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
