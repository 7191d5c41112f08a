import { dropsFiles } from "./shared/files.js";
import { headPicture } from "./shared/head_picture.js";
import { unpackReading } from "./shared/head_readings.js";
import { h } from "./shared/page.js";
import { startWorker } from "./shared/start_worker.js";
import { fixed, several } from "./shared/words.js";
import { dropKept, fetchedFile } from "./real_model/kept_file.js";
import { megabytes, opening } from "./real_model/opening.js";
import { ownText } from "./real_model/own_text.js";
import { textMenu } from "./real_model/text_menu.js";
import REAL_MODEL_CODE from "./real_model/model_worker.js?text";
/** @import { Asked } from "./real_model/own_text.js" */

const NO_WORKER = "This browser doesn't let the page start a worker: no file can be opened here.";
const STAYS = "All of it happens on this computer: nothing of the file or of your text leaves it.";
const OF_TABLES = "These are of the recorded sentences, not of what the model has read since.";
const BROKE_OFF =
  "The model has stopped, perhaps because memory is lacking: close other pages, and open its " +
  "file again.";

/** Every head of a real model: of recorded sentences, and of any text once its file is open. */
export function render({ state, el }) {
  const page = new RealModel(state);
  el.closest(".aos-view")?.querySelector("details summary")?.after(page.ofTables);
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
    this.openName = ""; // of that file, if it has one
    this.fromSite = false; // whether the file was fetched
    this.isFetching = false;
    /** @type {ReturnType<typeof unpackReading> | null} */
    this.reading = null; // what the model has read, once it is open
    /** @type {Asked} */
    this.asked = { text: "", chat: false }; // the text that is being read
    this.isReading = false;
    /** @type {(() => void) | null} */
    this.then = null; // what was asked for meanwhile
    this.given = this.asked; // the text that was read, before anything was written
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
      read: () => this.read(),
      write: (how) => this.onceRead(() => this.write(how)),
      stop: () => this.stop(),
      back: () => this.onceRead(() => this.ask("back")),
    });
    this.menu = textMenu({
      texts: this.readings.map(({ text }) => text),
      choose: (asked) => this.choose(asked),
    });
    this.ofTables = h("p", { class: "note", "data-value": "of tables" });
    const stays = h("p", { class: "note", "data-value": "stays" }, STAYS);
    this.place = h("div", {}, this.opening.element);
    this.status = h("p", { class: "note status", "aria-live": "polite", "data-value": "status" });
    this.wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
    this.elements = [
      ...[this.menu.element, this.place, stays, this.status, this.wrong],
      this.picture.element,
    ];
  }

  // --- which text is shown ---

  offer() {
    this.menu.show(this.shown.text, this.reading && this.given);
  }

  /** A text of the menu: once the model is open, it reads it. */
  choose(asked) {
    if (!this.isOpen) {
      this.showRecorded(asked.text);
      return;
    }
    this.field.put(asked);
    this.read();
  }

  showRecorded(text, start = {}) {
    this.shown = this.readings.find((one) => one.text === text) ?? this.readings[0];
    this.offer();
    this.picture.show(this.shown, start);
  }

  get isOpen() {
    return this.field.element.isConnected;
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
    this.openName = file instanceof File ? file.name : "";
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

  /** Read what stands in the field. */
  read() {
    this.setWriting(false);
    [this.asked, this.isReading, this.then] = [this.field.asked(), true, null];
    this.tell("The text is being read.");
    this.ask("read", { ...this.asked, off: [] });
    this.reads = this.count;
  }

  /** Do something with the text in the field, once it is read. */
  onceRead(act) {
    const { text, chat } = this.field.asked();
    const latest = this.isReading ? this.asked : this.given;
    if (text !== latest.text || chat !== latest.chat) this.read();
    if (this.isReading) this.then = act;
    else act();
  }

  write({ temperature, topP, most }) {
    if (!this.reading || this.isWriting) return;
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
    if (this.isReading) {
      this.then = () => this.switch(off);
    } else if (this.isOpen) {
      this.tell("The text is being read once more.");
      this.picture.answer(off, null);
      this.ask("switch", { off });
    } else {
      const last = off.slice(-1);
      const [layer, head] = (last[0] ?? "").split(".").map(Number);
      const found = last.length > 0 ? (this.shown.without?.(layer, head) ?? null) : null;
      this.picture.answer(last, found);
    }
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
      whole: () => this.hearWhole(message),
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
    this.ofTables.textContent = OF_TABLES;
    this.field.put(this.reading ? this.given : { text: this.shown.text, chat: false });
    if (isHere) this.field.focus(); // what had it is gone
    this.read();
  }

  readAnew({ number, reading }) {
    if (this.reads === number) [this.given, this.isReading] = [this.asked, false];
    const found = this.withLost(unpackReading(reading));
    [this.reading, this.shown] = [found, found];
    this.showText(reading.text);
    this.offer();
    this.picture.show(found, { query: found.tokens.length - 1, parts: true });
    if (!this.isWriting) this.tell(`${several(reading.tokens.length, "token")} read.`);
    const { then } = this;
    this.then = null;
    then?.();
  }

  /** Of a recorded sentence it is known, too, what is lost without each head. */
  withLost(reading) {
    const found = this.readings.find((one) => one.text === reading.text);
    const isSame = found?.tokens.length === reading.tokens.length && reading.off.length === 0;
    return isSame ? { ...reading, lost: found.lost } : reading;
  }

  /** The text, of which what was written is marked; whoever goes back far takes from the rest. */
  showText(text) {
    if (!text.startsWith(this.given.text)) {
      const isRead = this.field.asked().text === this.given.text;
      this.given = { ...this.given, text };
      if (isRead) this.field.put(this.given);
    }
    this.field.show(this.given, text.slice(this.given.text.length));
  }

  switched({ number, off, next }) {
    if (number !== this.count) return; // another part was switched since
    this.picture.answer(off, next);
    this.tell("");
  }

  /** What comes with everything on, of the text as it was when the last thing was asked. */
  hearWhole({ number, next }) {
    if (number === this.count) this.picture.whole(next);
  }

  token({ text, next }) {
    if (!this.isWriting) return;
    this.wrote += 1;
    this.showText(this.base + text);
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (!isCalm) this.picture.expect(next);
  }

  ended({ why }) {
    if (!this.isWriting) return;
    this.setWriting(false);
    const speed = (1000 * this.wrote) / (performance.now() - this.begun);
    const tokens = several(this.wrote, "token");
    this.tell(`${WHY[why]} ${tokens} written, ${fixed(speed, 1)} a second.`);
  }

  failed({ number, message }) {
    const isOfFile = number === this.opens;
    const name = isOfFile && this.openName ? `“${this.openName}”: ` : "";
    if (isOfFile) this.opening.tell("");
    if (isOfFile && this.fromSite) dropKept(this.state.fileUrl);
    this.setWriting(false);
    this.tell("");
    if (isOfFile && this.isReading)
      this.read(); // which the file has ended
    else [this.isReading, this.then] = [false, null];
    if (this.isOpen) this.offer(); // what was chosen may be what couldn't be read
    this.wrong.textContent = name + message;
  }

  /** The worker is gone; what was recorded is still there. */
  lose(message) {
    this.worker?.terminate();
    [this.worker, this.reading, this.then] = [null, null, null];
    this.menu.forget();
    this.given = { text: "", chat: false };
    this.isReading = false;
    this.setWriting(false);
    this.ofTables.textContent = "";
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
