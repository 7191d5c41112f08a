// A text of the reader's own: read by the model, and continued by it.

import { button, slider, tick } from "../shared/controls.js";
import { h } from "../shared/page.js";
import { fixed } from "../shared/words.js";

/** @typedef {{ text: string, chat: boolean }} Asked a text, and whether it is a chat's question */
/** @typedef {{ temperature: number, topP: number, most: number }} How */

const LENGTHS = [10, 20, 40, 80, 160]; // tokens that are written at most
const UNASKED =
  "This question hasn't been asked yet: all below still shows the text before. Enter asks it.";
const REFUSED = "All below still shows the text before.";
const CHAT =
  "Enter asks, and the model answers until its end. Each question is a chat of its own: the " +
  "model knows nothing of the one before. The rows below show more than you typed, because " +
  "the chat's template adds tokens that say who speaks, “<|im_start|>system …”, and an " +
  "instruction.";
const DRAWING =
  "At temperature 0 the most probable token is taken each time; the higher, the more often " +
  "another is drawn. With top-p, only the most probable ones can be drawn that together " +
  "reach that share.";
const READ = "What the model has read, and marked, what it wrote:";
const ANSWERED = "Your question, and marked, what the model answered:";
const UNREAD =
  "This text hasn't been read yet: all below still shows the one before. Enter reads it, and so " +
  "do the buttons below.";
const ERRS =
  "So small a model is often wrong. Watch how it works, and believe nothing that it writes.";

/**
 * The controls, and the text that the model has before it, with what it wrote marked. `answer(how)`
 * hears that a chat's question was asked. Returns the element, with a `place` for what is told;
 * `asked()`, what stands in the field; `put(asked)` something else into it; `focus()`;
 * `writing(on)`, whether it is writing now; `reading(asked)`, what is being read, null for nothing;
 * `slow()`, that this takes a while, so that it can be stopped; `refuse()`, that what stands in the
 * field can't be read; and `show(asked, written)`, what the model has read, beside which a field
 * that differs says so, and what it wrote, on a line of its own in a chat.
 * @param {{
 *   read: () => void, answer: (how: How) => void, write: (how: How) => void, stop: () => void,
 *   back: () => void,
 * }} options
 */
export function ownText({ read, answer, write, stop, back }) {
  const chosen = { temperature: 0.7, topP: 0.9, most: 40 };
  let isWriting = false;
  /** @type {Asked | null} */
  let inHand = null; // what is being read
  let isSlow = false; // and takes a while
  /** @type {Asked} */
  let known = { text: "", chat: false };
  const field = h("textarea", {
    class: "own-text",
    rows: 2,
    "data-control": "own text",
    "aria-label": "your text; Enter reads it, Shift and Enter begin a new line",
    spellcheck: "false",
    oninput: () => compare(),
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      enter();
    },
  });
  const chat = tick({
    name: "chat",
    label: "as a question in a chat",
    value: false,
    change: () => {
      compare();
      if (written.textContent === "") read(); // else what the model wrote would be lost
    },
  });
  /** A text is read; a question is answered as well. */
  const enter = () => (box.checked ? answer({ ...chosen, most: Infinity }) : read());
  const reads = button({
    name: "read",
    label: "Read it",
    press: () => (isSlow ? stop() : enter()),
  });
  const box = /** @type {HTMLInputElement} */ (chat.querySelector("input"));
  const asked = () => ({ text: field.value, chat: box.checked });
  const unread = h("p", { class: "note", "aria-live": "polite", "data-value": "unread" });
  const ofChat = h("p", { class: "note small", "data-value": "of chat" });
  const compare = () => {
    const isIt = (one) => field.value === one?.text && box.checked === one.chat;
    unread.textContent = isIt(known) || isIt(inHand) ? "" : box.checked ? UNASKED : UNREAD;
    reads.textContent = isSlow ? "Stop reading" : box.checked ? "Ask it" : "Read it";
    ofChat.textContent = box.checked ? CHAT : "";
  };
  const set = (name) => (value) => {
    chosen[name] = value;
  };
  const writes = button({
    name: "write",
    label: "Write on",
    press: () => (isWriting ? stop() : write(chosen)),
  });
  const place = h("div");
  const label = h("p", { class: "note" }, READ);
  const before = h("span");
  const written = h("mark", { "data-value": "new" });
  const both = h(
    "p",
    {
      ...{ class: "written", "data-value": "written", tabindex: 0, role: "region" },
      "aria-label": "what the model has read and written",
    },
    before,
    written,
  );
  const element = h(
    "div",
    {},
    h("label", { class: "wide" }, "Your text ", field),
    h("div", { class: "controls" }, reads, chat),
    ofChat,
    unread,
    h(
      "div",
      { class: "controls" },
      writes,
      button({ name: "one token", label: "One token", press: () => write({ ...chosen, most: 1 }) }),
      button({ name: "back", label: "Back a token", press: back }),
      slider({
        name: "temperature",
        label: "temperature",
        min: 0,
        max: 2,
        step: 0.1,
        value: chosen.temperature,
        text: (x) => fixed(x, 1),
        change: set("temperature"),
      }),
      slider({
        name: "top-p",
        label: "top-p",
        min: 0.05,
        max: 1,
        step: 0.05,
        value: chosen.topP,
        text: (x) => fixed(x),
        change: set("topP"),
      }),
      slider({
        name: "most",
        label: "tokens at most",
        choices: LENGTHS,
        value: chosen.most,
        change: set("most"),
      }),
    ),
    h("p", { class: "note small" }, DRAWING),
    place,
    label,
    both,
    h("p", { class: "note small" }, ERRS),
  );
  return {
    element,
    place,
    asked,
    /** @param {Asked} other */
    put(other) {
      [field.value, box.checked] = [other.text, other.chat];
      compare();
    },
    focus: () => field.focus(),
    /** @param {Asked | null} asked */
    reading(asked) {
      [inHand, isSlow] = [asked, false];
      compare();
    },
    slow() {
      isSlow = inHand !== null;
      compare();
    },
    refuse() {
      compare();
      if (unread.textContent !== "") unread.textContent = REFUSED;
    },
    writing(on) {
      isWriting = on;
      writes.textContent = on ? "Stop" : "Write on";
    },
    /**
     * @param {Asked} read
     * @param {string} behind
     */
    show(read, behind) {
      known = read;
      before.textContent = read.chat ? `${read.text}\n` : read.text;
      written.textContent = behind;
      label.textContent = read.chat ? ANSWERED : READ;
      if (behind) both.scrollTop = both.scrollHeight;
      compare();
    },
  };
}
