import { dropsFiles } from "./shared/files.js";
import { lossChart } from "./shared/loss_chart.js";
import { h } from "./shared/page.js";
import { startWorker } from "./shared/start_worker.js";
import {
  bytesOf,
  description,
  mainControls,
  settingsControls,
  settingsOf,
} from "./trainer/choices.js";
import { panel } from "./trainer/panel.js";
import WORKER_CODE from "./trainer/worker.js?text";
const FILE_NAME = "model.safetensors";
const REFUSED = "This browser doesn't let the page start a worker: nothing can be trained here.";

/** A transformer that learns in the page: its loss, its answers, where it looks, what it writes. */
export function render({ state, el }) {
  const trainer = new Trainer(state);
  document.addEventListener("visibilitychange", () => trainer.whenSeen());
  dropsFiles(el, (file) => trainer.open(file));
  el.append(...trainer.elements);
  trainer.isThere = () => el.isConnected;
}

/** What stands on the page, and the worker behind it. Trainings are counted from 1. */
class Trainer {
  constructor(state) {
    this.state = state;
    this.chosen = { recipe: state.recipes[0][0], factor: 1, seed: 1, text: "", ...state.sizes };
    /** @type {Worker | null} */
    this.worker = null;
    this.count = 0; // of the trainings that were asked for
    this.wanted = 0; // the last of them, unless it failed
    this.shown = 0; // the one that is seen
    /** @type {ReturnType<typeof panel> | null} */
    this.panel = null; // of it
    this.running = false;
    this.stepping = false; // one step is asked for
    this.paused = false; // because nobody sees the page
    this.ended = false;
    this.unsaved = false; // steps since the model was new, or saved
    this.isThere = () => true;
    this.asks = (event) => event.preventDefault();

    this.plan = h("p", { class: "note", "data-value": "plan" });
    this.status = h("p", { class: "note", "aria-live": "polite", "data-value": "status" });
    this.wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
    this.place = h("div");
    this.controls = mainControls({
      run: () => this.run(),
      step: () => this.step(),
      anew: () => this.begin(),
      save: () => this.save(),
      open: (file) => this.open(file),
    });
    const settings = settingsControls(state, this.chosen, () => this.tellPlan());
    this.elements = [
      ...[this.controls.element, settings],
      ...[this.plan, this.status, this.wrong, this.place],
    ];
    this.tellPlan();
  }

  // --- what is told to the reader ---

  say(words) {
    this.status.textContent = words;
  }

  setRunning(on) {
    this.running = on;
    this.controls.run.textContent = on ? "Pause" : "Train";
    this.guard();
  }

  /** Leaving the page asks first while a model learns, or has learned and isn't saved. */
  guard(unsaved = this.unsaved) {
    this.unsaved = unsaved;
    const isAtRisk = (this.running || unsaved) && this.isThere();
    window[isAtRisk ? "addEventListener" : "removeEventListener"]("beforeunload", this.asks);
  }

  /** The curve comes in sight, where it isn't. */
  showCurve() {
    this.place.querySelector("svg")?.scrollIntoView({ block: "nearest" });
  }

  fail(message) {
    this.wrong.textContent = message;
    [this.wanted, this.stepping, this.paused] = [this.shown, false, false];
    this.setRunning(false);
    this.say(this.panel ? "Paused. The model is still there." : "Nothing is being trained.");
  }

  /** What the settings say; before there is a model, the empty chart too. */
  tellPlan() {
    const { state, chosen } = this;
    const which = this.panel ? "A new model would be" : "The model";
    this.plan.textContent = `${which}: ${description(state, chosen)}.`;
    if (this.panel) return;
    const levels = chosen.text ? [] : state.levels;
    this.place.replaceChildren(chartOf(chosen.steps, state.alphabet, levels).element);
  }

  // --- what the reader asks for ---

  /** What is asked for another training than the worker has in hand, it doesn't hear. */
  ask(kind, more = {}, training = this.wanted) {
    this.worker?.postMessage({ kind, training, ...more });
  }

  /**
   * Ask for a new model, or for that of a file; the last one stays where this fails.
   * @param {Uint8Array} [file]
   */
  begin(file) {
    this.wrong.textContent = "";
    this.paused = false;
    this.setRunning(false);
    this.worker ??= startWorker(
      WORKER_CODE,
      (data) => this.hear(data),
      () => {
        [this.worker, this.panel, this.shown, this.unsaved] = [null, null, 0, false];
        this.fail(REFUSED);
      },
    );
    if (!this.worker) return;
    this.say(file ? "The file is being read." : "The first weights are being drawn.");
    this.count += 1;
    this.wanted = this.count;
    this.ask("begin", { settings: settingsOf(this.state, this.chosen, file) });
  }

  isOver() {
    const isOver = this.ended && this.wanted === this.shown;
    if (isOver) this.say("All steps are done. Save the model, or take a new one.");
    return isOver;
  }

  run() {
    if (this.running) this.pause("Paused.");
    else if (!this.isOver()) {
      this.wrong.textContent = "";
      if (!this.wanted) this.begin();
      if (!this.worker) return;
      this.setRunning(true);
      this.showCurve();
      this.say("In training.");
      this.ask("run");
    }
  }

  pause(words) {
    this.setRunning(false);
    this.ask("pause");
    this.say(words);
  }

  step() {
    this.setRunning(false);
    if (this.stepping || this.isOver()) return;
    this.wrong.textContent = "";
    if (!this.wanted) this.begin();
    this.stepping = true;
    this.ask("step");
  }

  save() {
    if (this.panel) {
      this.wrong.textContent = "";
      this.say("The model is being saved.");
      this.ask("save", {}, this.shown);
    } else this.wrong.textContent = "There is no model yet: train one first.";
  }

  async open(file) {
    if (!file) return;
    try {
      this.begin(await bytesOf(file));
    } catch (error) {
      this.wrong.textContent = error instanceof Error ? error.message : String(error);
    }
  }

  /** A page that nobody sees doesn't train. */
  whenSeen() {
    if (document.hidden && this.running) {
      this.pause("Paused while you look at another page.");
      this.paused = true;
    } else if (!document.hidden && this.paused) {
      this.paused = false;
      if (!this.running) this.run();
    }
  }

  // --- what the worker tells ---

  hear(data) {
    // A notebook may have taken the view away.
    if (this.running && !this.isThere()) this.pause("Paused.");
    const isOfNext = data.training === this.wanted && data.kind === "failed";
    const { panel, running } = this;
    if (data.kind === "ready") this.ready(data);
    else if (isOfNext || data.training === this.shown)
      ({
        step: () => this.stepped(data),
        findings: () => this.examined(data),
        sample: () => panel?.sample(data, running),
        look: () => panel?.look(data, running),
        file: () => this.saved(data),
        ended: () => this.end(data),
        failed: () => this.fail(data.message),
      })[data.kind]();
  }

  ready(data) {
    [this.shown, this.ended] = [data.training, false];
    this.wanted = Math.max(this.wanted, this.shown);
    const levels = data.least === null ? [] : [...this.state.levels];
    // The page's own stories have a floor of their own, a little beside that of all.
    if (levels.length) levels[0] = [levels[0][0], data.least];
    const chart = chartOf(data.steps, data.alphabet, levels);
    this.panel = panel(data, chart, (where) => this.ask("look", { where }, this.shown));
    this.place.replaceChildren(this.panel.element);
    this.guard(false);
    this.tellPlan();
    if (this.running) this.showCurve();
    else this.say("A model is there, and has taken no step here yet.");
  }

  stepped(data) {
    this.guard(true);
    this.panel?.step(data, this.running);
  }

  examined(data) {
    this.stepping = false;
    const sentence = this.panel?.examined(data, this.running);
    if (sentence && data.step) this.say(this.running ? sentence : `Paused. ${sentence}`);
  }

  saved({ bytes }) {
    download(bytes, FILE_NAME);
    this.guard(false);
    this.say(`The model is saved as ${FILE_NAME}.`);
  }

  end({ step }) {
    this.ended = true;
    this.setRunning(false);
    this.say(`All ${step} steps are done: ${this.panel?.inWords()}.`);
  }
}

function chartOf(steps, alphabet, levels) {
  const most = Math.max(0.5, Math.ceil(2 * Math.log(alphabet.length)) / 2);
  return lossChart({ steps, most, levels: levels.filter(([, loss]) => loss < most) });
}

function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
