import { menu } from "./shared/controls.js";
import { dropsFiles } from "./shared/files.js";
import { headPicture } from "./shared/head_picture.js";
import { unpackReading } from "./shared/head_readings.js";
import { h } from "./shared/page.js";
import { startWorker } from "./shared/start_worker.js";
import { fixed, several } from "./shared/words.js";
import { dropKept, fetchedFile } from "./real_model/kept_file.js";
import { megabytes, opening } from "./real_model/opening.js";
import { ownText } from "./real_model/own_text.js";
import REAL_MODEL_CODE from "./real_model/model_worker.js?text";

const OWN = "your own";
const NO_WORKER = "This browser doesn't let the page start a worker: no file can be opened here.";
const BROKE_OFF =
  "The model has stopped, perhaps because memory is lacking: close other pages, and open its " +
  "file again.";

/** Every head of a real model: of recorded sentences, and of any text once its file is open. */
export function render({ state, el }) {
  const page = new RealModel(state);
  dropsFiles(el, (file) => page.open(file));
  el.append(...page.elements);
  page.showRecorded(state.readings[0].text, state.start);
}

/** What stands on the page, and the worker behind it. Requests are counted from 1. */
class RealModel {
  constructor(state) {
    this.state = state;
    this.readings = state.readings.map(unpackReading);
    this.shown = this.readings[0];
    /** @type {Worker | null} */
    this.worker = null;
    this.count = 0; // of what the worker was asked for
    this.opens = 0; // the request for the file that was handed over last
    this.reads = 0; // that for the text that was read last; answers to earlier ones are late
    this.fromSite = false; // whether the file was fetched
    this.isFetching = false;
    /** @type {ReturnType<typeof unpackReading> | null} */
    this.reading = null; // of the reader's own text, as it came last
    this.asked = { text: "", chat: false }; // the text that is being read
    this.given = this.asked; // the one that was read, before anything was written
    this.base = ""; // the text when writing began
    this.wrote = 0; // tokens since then
    this.begun = 0; // when, in milliseconds
    this.isWriting = false;

    this.picture = headPicture({ change: (off) => this.switch(off), jobs: state.jobs });
    this.opening = opening({
      model: state.model,
      carried: state.fileUrl !== null,
      open: (file) => this.open(file),
      bring: () => this.bring(),
    });
    this.field = ownText({
      read: (text, chat) => this.read(text, chat),
      write: (options) => this.write(options),
      stop: () => this.stop(),
      back: () => this.ask("back"),
    });
    this.choice = h("div", { class: "controls" });
    this.place = h("div", {}, this.opening.element);
    this.status = h("p", { class: "note", "aria-live": "polite", "data-value": "status" });
    this.wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
    this.elements = [...[this.choice, this.place, this.status, this.wrong], this.picture.element];
  }

  // --- which text is shown ---

  /** The recorded sentences, and the reader's own text once there is one. */
  offer(value) {
    const texts = this.readings.map(({ text }) => text);
    this.choice.replaceChildren(
      menu({
        name: "text",
        label: this.reading ? "Text" : "Recorded sentence",
        options: this.reading ? [OWN, ...texts] : texts,
        value,
        change: (text) => (text === OWN ? this.showOwn() : this.showRecorded(text)),
      }),
    );
  }

  showRecorded(text, start = {}) {
    this.shown = this.readings.find((one) => one.text === text) ?? this.readings[0];
    this.offer(this.shown.text);
    this.picture.show(this.shown, start);
  }

  /** The reader's own text, asked from its last token. */
  showOwn() {
    if (!this.reading) return;
    if (this.shown !== this.reading) this.offer(OWN);
    this.shown = this.reading;
    this.picture.show(this.reading, { query: this.reading.tokens.length - 1, parts: true });
  }

  // --- what the reader asks for ---

  ask(kind, more = {}) {
    this.count += 1;
    this.wrong.textContent = "";
    this.worker?.postMessage({ kind, number: this.count, ...more });
  }

  /** @param {Blob} [file] */
  open(file, fromSite = false) {
    if (!file) return;
    this.worker ??= startWorker(
      REAL_MODEL_CODE,
      (message) => this.hear(message),
      (begun) => this.lose(begun ? BROKE_OFF : NO_WORKER),
    );
    if (!this.worker) return;
    this.fromSite = fromSite;
    const { name, bytes, sha256 } = this.state.model;
    this.ask("open", { file, expected: { name, bytes, sha256 } });
    this.opens = this.count;
    this.tellOpening("The file is being opened.");
  }

  /** The file that the site carries. */
  async bring() {
    const { fileUrl, model } = this.state;
    if (this.isFetching) return;
    this.isFetching = true;
    this.wrong.textContent = "";
    this.tell("");
    try {
      const { file, kept } = await fetchedFile(fileUrl, (done) =>
        this.opening.tell(`Fetching: ${ofTotal(done, model.bytes)}`, done, model.bytes),
      );
      if (!kept) this.tell("This browser doesn't keep the file: next time it is fetched again.");
      this.open(file, true);
    } catch (error) {
      this.opening.tell("");
      this.wrong.textContent = error instanceof Error ? error.message : String(error);
    }
    this.isFetching = false;
  }

  read(text, chat) {
    this.setWriting(false);
    this.asked = { text, chat };
    this.tell("The text is being read.");
    this.ask("read", { text, chat, off: [] });
    this.reads = this.count;
  }

  write({ temperature, topP, most }) {
    if (!this.reading || this.isWriting) return;
    this.showOwn();
    this.ask("write", { temperature, topP, seed: this.count, most });
    [this.base, this.wrote, this.begun] = [this.reading.text, 0, performance.now()];
    this.tell("The model is writing.");
    this.setWriting(true);
  }

  stop() {
    this.worker?.postMessage({ kind: "stop", number: this.count });
  }

  setWriting(on) {
    this.isWriting = on;
    this.field.writing(on);
  }

  /** What the chosen parts are worth: recorded for one head, or asked for. */
  switch(off) {
    if (this.shown === this.reading) {
      this.tell("The text is being read once more.");
      this.picture.answer(off, null);
      this.ask("switch", { off });
      return;
    }
    const last = off.slice(-1);
    const [layer, head] = (last[0] ?? "").split(".").map(Number);
    this.picture.answer(last, last.length > 0 ? (this.shown.without?.(layer, head) ?? null) : null);
  }

  // --- what the worker tells ---

  hear(message) {
    const { kind, number } = message;
    const isOfFile = kind === "progress" || kind === "opened" || number === this.opens;
    if (number < (isOfFile ? this.opens : this.reads)) return;
    ({
      progress: () => this.progress(message),
      opened: () => this.opened(message),
      tokens: () => this.tell(`Reading: ${message.done} of ${message.total} tokens.`),
      reading: () => this.readAnew(message),
      after: () => this.switched(message),
      token: () => this.token(message),
      ended: () => this.ended(message),
      failed: () => this.failed(message),
    })[kind]();
  }

  tell(words) {
    this.status.textContent = words;
  }

  /** Beside the field for the file; once a model is open, where all else is told. */
  tellOpening(words, done = 0, total = 0) {
    if (this.opening.element.isConnected) this.opening.tell(words, done, total);
    else this.tell(words);
  }

  progress({ stage, done, total }) {
    const words = `${stage[0].toUpperCase()}${stage.slice(1)}: ${ofTotal(done, total)}`;
    this.tellOpening(words, done, total);
  }

  /** The file is open: its place is taken by the reader's text, which is read at once. */
  opened({ model }) {
    const { name, layers, heads, vocabulary, contextLength, compute } = model;
    this.opening.tell("");
    const isHere = this.place.contains(document.activeElement);
    this.place.replaceChildren(
      h(
        "p",
        { class: "note", "data-value": "opened" },
        `${name} is open: ${layers} layers of ${heads} heads, ${several(vocabulary, "token")} ` +
          `in its list, up to ${contextLength} in a text. ${compute} computes.`,
      ),
      this.field.element,
    );
    this.field.begin(this.shown.text);
    if (isHere) this.field.focus(); // what had it is gone
  }

  readAnew({ number, reading }) {
    const isSeen = number === this.reads || this.shown === this.reading;
    if (number === this.reads) this.given = this.asked;
    this.reading = unpackReading(reading);
    this.showText(reading.text);
    if (isSeen) this.showOwn();
    if (!this.isWriting) this.tell(`${several(reading.tokens.length, "token")} read.`);
  }

  /** The text, of which what was written is marked; whoever goes back far takes from the rest. */
  showText(text) {
    if (!text.startsWith(this.given.text)) this.given = { ...this.given, text };
    const { text: given, chat } = this.given;
    this.field.show(given, text.slice(given.length), chat);
  }

  switched({ off, next }) {
    if (this.shown !== this.reading) return;
    this.picture.answer(off, next);
    this.tell("");
  }

  token({ text, next }) {
    if (!this.isWriting) return;
    this.wrote += 1;
    this.showText(this.base + text);
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isCalm && this.shown === this.reading) this.picture.expect(next);
  }

  ended({ why }) {
    if (!this.isWriting) return;
    this.setWriting(false);
    const speed = (1000 * this.wrote) / (performance.now() - this.begun);
    const tokens = several(this.wrote, "token");
    this.tell(`${WHY[why]} ${tokens} written, ${fixed(speed, 1)} a second.`);
  }

  failed({ number, message }) {
    if (number === this.opens) this.opening.tell("");
    if (number === this.opens && this.fromSite) dropKept(this.state.fileUrl);
    this.setWriting(false);
    this.tell("");
    this.wrong.textContent = message;
  }

  /** The worker is gone; what was recorded is still there. */
  lose(message) {
    this.worker?.terminate();
    [this.worker, this.reading] = [null, null];
    this.setWriting(false);
    this.opening.tell("");
    this.place.replaceChildren(this.opening.element);
    this.tell("");
    this.wrong.textContent = message;
    this.showRecorded(this.shown.text);
  }
}

const WHY = {
  end: "The model has ended its text.",
  most: "As many as were asked for.",
  stopped: "Stopped.",
  full: "The text is as long as this page takes.",
};

const ofTotal = (done, total) => `${Math.round(done / 1e6)} of ${megabytes(total)}`;
