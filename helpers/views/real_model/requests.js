// What the page asks of the model's worker, counted from 1, so that late answers are told apart.

import { startWorker } from "../shared/start_worker.js";
import REAL_MODEL_CODE from "./model_worker.js?text";

export class Requests {
  /** @param {{ hear: (message: any) => void, lose: (begun: boolean) => void }} options */
  constructor({ hear, lose }) {
    this.hear = hear;
    this.lose = lose;
    /** @type {Worker | null} */
    this.worker = null;
    this.count = 0;
    /** The last request of a kind. */
    this.last = { open: 0, read: 0, switch: 0 };
  }

  /** Whether there is a worker now; it is started where there is none. */
  start() {
    this.worker ??= startWorker(
      REAL_MODEL_CODE,
      (message) => this.isLate(message) || this.hear(message),
      (begun) => this.lose(begun),
    );
    return this.worker !== null;
  }

  ask(kind, more = {}) {
    this.count += 1;
    if (kind in this.last) this.last[kind] = this.count;
    this.worker?.postMessage({ kind, number: this.count, ...more });
  }

  stop() {
    this.worker?.postMessage({ kind: "stop", number: this.count });
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
  }

  isOfFile({ kind, number }) {
    return kind === "progress" || kind === "opened" || number === this.last.open;
  }

  isOfSwitch({ number }) {
    return number === this.last.switch;
  }

  /** Whether a message answers something that was asked anew since. */
  isLate(message) {
    const { kind, number } = message;
    if (this.isOfFile(message)) return number < this.last.open;
    const { read, switch: switched } = this.last;
    const newest = { whole: this.count, reading: Math.max(read, switched) };
    return number < (newest[kind] ?? read);
  }
}
