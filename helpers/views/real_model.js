import { dropsFiles } from "./shared/files.js";
import { headPicture } from "./shared/head_picture.js";
import { unpackReading } from "./shared/head_readings.js";
import { h } from "./shared/page.js";
import { several } from "./shared/words.js";
import {
  BROKE_OFF,
  endedInWords,
  NO_WORKER,
  OF_TABLES,
  ofTotal,
  openedInWords,
  progressInWords,
  STAYS,
} from "./real_model/in_words.js";
import { dropKept, fetchedFile } from "./real_model/kept_file.js";
import { modelField, opening } from "./real_model/opening.js";
import { ownText } from "./real_model/own_text.js";
import { Requests } from "./real_model/requests.js";
import { textMenu } from "./real_model/text_menu.js";
/** @import { Asked } from "./real_model/own_text.js" */

/** Every head of a real model: of recorded sentences, and of any text once its file is open. */
export function render({ state, el }) {
  const page = new RealModel(state);
  el.closest(".aos-view")?.querySelector("details summary")?.after(page.ofTables);
  dropsFiles(el, (file) => page.open(file));
  el.append(...page.elements);
  page.showRecorded(state.readings[0].text, state.start);
}

/** What stands on the page, and what it asks of the worker behind it. */
class RealModel {
  constructor(state) {
    this.state = state;
    this.readings = state.readings.map(unpackReading);
    this.shown = this.readings[0];
    this.requests = new Requests({
      hear: (message) => this.hear(message),
      lose: (begun) => this.lose(begun ? BROKE_OFF : NO_WORKER),
    });
    /** @type {string[]} */
    this.off = []; // what the reader has switched off, for this text and all later ones
    this.openName = ""; // of the file that was handed over last, if it has one
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
      answer: (how) => {
        this.read();
        this.then = () => this.write(how);
      },
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
    this.told = h("div", {}, this.status, this.wrong); // beside the text, once there is one
    this.below = h("div", {}, this.told);
    this.elements = [this.menu.element, this.place, stays, this.below, this.picture.element];
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
    if (this.off.length > 0) this.switch(this.off);
  }

  get isOpen() {
    return this.field.element.isConnected;
  }

  // --- what the reader asks for ---

  ask(kind, more = {}) {
    this.wrong.textContent = "";
    this.picture.tell("");
    this.requests.ask(kind, more);
  }

  /** @param {Blob} [file] */
  open(file, fromSite = false) {
    if (!file || !this.requests.start()) return;
    this.fromSite = fromSite;
    this.openName = file instanceof File ? file.name : "";
    const { name, bytes, sha256 } = this.state.model;
    this.ask("open", { file, expected: { name, bytes, sha256 } });
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
    this.field.reading();
    this.ask("read", { ...this.asked, off: this.off });
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
    this.ask("write", { temperature, topP, seed: this.requests.count, most });
    [this.base, this.wrote, this.begun] = [this.reading.text, 0, performance.now()];
    this.tell("The model is writing.");
    this.setWriting(true);
  }

  stop() {
    this.requests.stop();
  }

  setWriting(on) {
    this.isWriting = on;
    this.field.writing(on);
  }

  /** What the chosen parts are worth: recorded for one head, or asked for. */
  switch(off) {
    this.off = off;
    if (this.isOpen) {
      this.picture.answer(off, null);
      if (this.isReading) this.then = () => this.switch(off);
      else this.ask("switch", { off });
      this.picture.tell("The text is being read once more.");
    } else {
      const last = off.slice(-1);
      this.off = last;
      const [layer, head] = (last[0] ?? "").split(".").map(Number);
      const found = last.length > 0 ? (this.shown.without?.(layer, head) ?? null) : null;
      this.picture.answer(last, found);
    }
  }

  // --- what the worker tells ---

  hear(message) {
    ({
      progress: () => this.progress(message),
      opened: () => this.opened(message),
      tokens: () => this.tokens(message),
      reading: () => this.readAnew(message),
      whole: () => this.picture.whole(message.next),
      token: () => this.token(message),
      ended: () => this.ended(message),
      failed: () => this.failed(message),
    })[message.kind]();
  }

  tell(said) {
    this.status.textContent = said;
  }

  /** Beside what asked for it. */
  tokens(message) {
    const said = `Reading: ${message.done} of ${message.total} tokens.`;
    if (this.requests.isOfSwitch(message)) this.picture.tell(said);
    else this.tell(said);
  }

  /** Beside the field for the file; once a model is open, where all else is told. */
  tellOpening(said, done = 0, total = 0) {
    if (this.opening.element.isConnected) this.opening.tell(said, done, total);
    else this.tell(said);
  }

  progress(message) {
    this.tellOpening(progressInWords(message), message.done, message.total);
  }

  /** The file is open: its place is taken by the reader's text, which is read at once. */
  opened({ model }) {
    this.opening.tell("");
    const isHere = this.place.contains(document.activeElement);
    this.place.replaceChildren(
      h("p", { class: "note", "data-value": "opened" }, openedInWords(model)),
      h(
        "div",
        { class: "controls" },
        modelField("Open another file", (file) => this.open(file)),
      ),
      this.field.element,
    );
    this.field.place.append(this.told);
    this.ofTables.textContent = OF_TABLES;
    this.field.put(this.reading ? this.given : { text: this.shown.text, chat: false });
    if (isHere) this.field.focus(); // what had it is gone
    this.read();
  }

  readAnew({ number, reading }) {
    const { last } = this.requests;
    if (last.read === number) [this.given, this.isReading] = [this.asked, false];
    const found = this.withLost(unpackReading(reading));
    const T = found.tokens.length;
    const keeps = last.switch === number && this.reading?.tokens.length === T;
    [this.reading, this.shown] = [found, found];
    this.showText(reading.text);
    this.offer();
    const atEnd = !keeps && reading.text !== this.given.text;
    this.picture.show(found, { ...{ query: T - 1, parts: true, off: this.off }, keeps, atEnd });
    if (last.switch === number) this.picture.tell("");
    else if (!this.isWriting) this.tell(`${several(T, "token")} read.`);
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
    this.tell(endedInWords(why, this.wrote, (performance.now() - this.begun) / 1000));
  }

  failed(answer) {
    const { message } = answer;
    const isOfFile = this.requests.isOfFile(answer);
    const name = isOfFile && this.openName ? `“${this.openName}”: ` : "";
    if (this.requests.isOfSwitch(answer)) {
      this.picture.tell("", message);
      return;
    }
    if (isOfFile) this.opening.tell("");
    if (isOfFile && this.fromSite) dropKept(this.state.fileUrl);
    this.setWriting(false);
    this.tell("");
    if (isOfFile && this.isReading)
      this.read(); // which the file has ended
    else [this.isReading, this.then] = [false, null];
    if (this.isOpen) this.offer(); // what was chosen may be what couldn't be read
    if (!isOfFile) this.field.refuse();
    this.wrong.textContent = name + message;
  }

  /** The worker is gone; what was recorded is still there. */
  lose(message) {
    this.requests.end();
    [this.reading, this.then, this.off] = [null, null, []];
    this.menu.forget();
    this.below.append(this.told);
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
