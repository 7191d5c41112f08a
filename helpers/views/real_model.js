import { dropsFiles } from "./shared/files.js";
import { headPicture } from "./shared/head_picture.js";
import { unpackReading } from "./shared/head_readings.js";
import { several } from "./shared/words.js";
import {
  BROKE_OFF,
  endedInWords,
  HALTED,
  NO_WORKER,
  progressInWords,
} from "./real_model/in_words.js";
import { Layout } from "./real_model/layout.js";
import { opening } from "./real_model/opening.js";
import { ownText } from "./real_model/own_text.js";
import { Recorded } from "./real_model/recorded.js";
import { Requests } from "./real_model/requests.js";
import { textMenu } from "./real_model/text_menu.js";
/** @import { Asked } from "./real_model/own_text.js" */

/** Every head of a real model: of recorded sentences, and of any text once its file is open. */
export function render({ state, el }) {
  const page = new RealModel(state);
  el.closest(".aos-view")?.querySelector("details summary")?.after(page.layout.ofTables);
  dropsFiles(el, (file) => page.opening.open(file));
  el.append(...page.layout.elements);
  page.showRecorded(state.readings[0].text, state.start);
}

/** What stands on the page, and what it asks of the worker behind it. */
class RealModel {
  constructor(state) {
    this.state = state;
    this.recorded = new Recorded(state.readings);
    this.shown = this.recorded.of("");
    this.requests = new Requests({
      hear: (message) => this.hear(message),
      lose: (begun) => this.lose(begun ? BROKE_OFF : NO_WORKER),
    });
    /** @type {string[]} */
    this.off = []; // what the reader has switched off, for this text and all later ones
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
      fileUrl: state.fileUrl,
      ask: (file) => this.open(file),
      say: (words, wrong) => {
        this.tell(words);
        if (wrong !== undefined) this.layout.complain(wrong);
      },
    });
    this.field = ownText({
      read: () => this.read(),
      answer: (how) => {
        this.read();
        this.then = () => this.write(how);
      },
      write: (how) => this.onceRead(() => this.write(how)),
      stop: () => this.requests.stop(),
      back: () => this.onceRead(() => this.ask("back")),
    });
    this.menu = textMenu({
      texts: this.recorded.texts,
      choose: (asked) => this.choose(asked),
    });
    this.layout = new Layout(this);
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
    this.shown = this.recorded.of(text);
    this.offer();
    this.picture.show(this.shown, start);
    if (this.off.length > 0) this.switch(this.off);
  }

  get isOpen() {
    return this.field.element.isConnected;
  }

  // --- what the reader asks for ---

  ask(kind, more = {}) {
    this.layout.complain("");
    this.picture.tell("");
    this.requests.ask(kind, more);
  }

  /** @param {Blob} file */
  open(file) {
    if (!this.requests.start()) return false;
    const { name, bytes, sha256 } = this.state.model;
    this.ask("open", { file, expected: { name, bytes, sha256 } });
    return true;
  }

  /** Read what stands in the field. */
  read() {
    this.setWriting(false);
    this.asked = this.field.asked();
    this.setReading(true);
    this.tell("The text is being read.");
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

  setWriting(on) {
    this.isWriting = on;
    this.field.writing(on);
  }

  /** What was asked for meanwhile is forgotten. */
  setReading(on) {
    [this.isReading, this.then] = [on, null];
    this.field.reading(on ? this.asked : null);
  }

  /** What the chosen parts are worth: recorded for one head, or asked for. */
  switch(off) {
    this.off = off;
    if (this.isOpen) {
      this.picture.answer(off, null);
      if (!this.reading && !this.isReading) this.read();
      if (this.isReading) this.then = () => this.switch(off);
      else this.ask("switch", { off });
      this.picture.tell("The text is being read once more.");
    } else {
      this.off = off.slice(-1);
      this.picture.answer(this.off, this.recorded.without(this.shown, this.off[0]));
    }
  }

  // --- what the worker tells ---

  hear(message) {
    ({
      progress: () => this.opening.tell(progressInWords(message), message.done, message.total),
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
    this.layout.tell(said);
  }

  /** Beside what asked for it. */
  tokens(message) {
    const said = `Reading: ${message.done} of ${message.total} tokens.`;
    if (this.requests.isOfSwitch(message)) this.picture.tell(said);
    else {
      this.tell(said);
      this.field.slow();
    }
  }

  /** The file is open: its place is taken by the reader's text, which is read at once. */
  opened({ model }) {
    this.opening.tell("");
    this.layout.open(model, this.field);
    this.field.put(this.reading ? this.given : { text: this.shown.text, chat: false });
    this.read();
  }

  readAnew({ number, reading }) {
    const { last } = this.requests;
    const { then } = this;
    if (last.read === number) this.given = this.asked;
    const found = this.recorded.withLost(unpackReading(reading));
    const T = found.tokens.length;
    const keeps = last.switch === number && this.reading?.tokens.length === T;
    [this.reading, this.shown] = [found, found];
    this.showText(reading.text);
    this.setReading(false);
    this.offer();
    const atEnd = !keeps && reading.text !== this.given.text;
    this.picture.show(found, { ...{ query: T - 1, parts: true, off: this.off }, keeps, atEnd });
    if (last.switch === number) this.picture.tell("");
    else if (!this.isWriting) this.tell(`${several(T, "token")} read.`);
    then?.();
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
    if (this.isReading) this.halted();
    if (!this.isWriting) return;
    this.setWriting(false);
    this.tell(endedInWords(why, this.wrote, (performance.now() - this.begun) / 1000));
  }

  /** Reading was stopped: all that is shown, and what the worker has, is of the text before. */
  halted() {
    this.setReading(false);
    this.off = this.reading?.off ?? [];
    this.picture.answer(this.off, this.shown.next);
    this.picture.tell("");
    this.offer();
    this.tell(HALTED);
  }

  failed(answer) {
    const { message } = answer;
    const isOfFile = this.requests.isOfFile(answer);
    if (this.requests.isOfSwitch(answer)) {
      this.picture.tell("", message);
      return;
    }
    const said = isOfFile ? this.opening.failed(message) : message;
    this.setWriting(false);
    this.tell("");
    if (isOfFile && this.isReading)
      this.read(); // which the file has ended
    else this.setReading(false);
    if (this.isOpen) this.offer(); // what was chosen may be what couldn't be read
    if (!isOfFile) this.field.refuse();
    this.layout.complain(said);
  }

  /** The worker is gone; what was recorded is still there. */
  lose(message) {
    this.requests.end();
    [this.reading, this.off] = [null, []];
    this.menu.forget();
    this.given = { text: "", chat: false };
    this.setReading(false);
    this.setWriting(false);
    this.layout.close();
    this.opening.tell("");
    this.tell("");
    this.layout.complain(message);
    this.showRecorded(this.shown.text);
  }
}
