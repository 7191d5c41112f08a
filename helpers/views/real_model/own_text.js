// A text of the reader's own: read by the model, and continued by it.

import { button, slider, tick } from "../shared/controls.js";
import { h } from "../shared/page.js";
import { fixed } from "../shared/words.js";

/** @typedef {{ text: string, chat: boolean }} Asked a text, and whether it is a chat's question */
/** @typedef {{ temperature: number, topP: number, most: number }} How */

const LENGTHS = [10, 20, 40, 80, 160]; // tokens that are written at most
const UNREAD =
  "This text hasn't been read yet: all below still shows the one before. Enter reads it, and so " +
  "do the buttons.";
const ERRS =
  "So small a model is often wrong. Watch how it works, and believe nothing that it writes.";

/**
 * The controls, and the text that the model has before it, with what it wrote marked. Returns the
 * element; `asked()`, what stands in the field; `put(asked)` something else into it; `focus()`;
 * `writing(on)`, whether it is writing now; and `show(asked, written)`, what the model has read,
 * beside which a field that differs says so, and what it wrote, on a line of its own in a chat.
 * @param {{
 *   read: () => void, write: (how: How) => void, stop: () => void, back: () => void,
 * }} options
 */
export function ownText({ read, write, stop, back }) {
  const chosen = { temperature: 0.7, topP: 0.9, most: 40 };
  let isWriting = false;
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
      read();
    },
  });
  const chat = tick({
    name: "chat",
    label: "as a question in a chat",
    value: false,
    change: () => {
      compare();
      read();
    },
  });
  const box = /** @type {HTMLInputElement} */ (chat.querySelector("input"));
  const asked = () => ({ text: field.value, chat: box.checked });
  const unread = h("p", { class: "note", "aria-live": "polite", "data-value": "unread" });
  const compare = () => {
    const isRead = field.value === known.text && box.checked === known.chat;
    unread.textContent = isRead ? "" : UNREAD;
  };
  const set = (name) => (value) => {
    chosen[name] = value;
  };
  const writes = button({
    name: "write",
    label: "Write on",
    press: () => (isWriting ? stop() : write(chosen)),
  });
  const before = h("span");
  const written = h("mark", { "data-value": "new" });
  const element = h(
    "div",
    {},
    h("label", { class: "wide" }, "Your text ", field),
    h("div", { class: "controls" }, button({ name: "read", label: "Read it", press: read }), chat),
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
    h("p", { class: "note" }, "What the model has read, and marked, what it wrote:"),
    h("p", { class: "written", "data-value": "written" }, before, written),
    h("p", { class: "note small" }, ERRS),
  );
  return {
    element,
    asked,
    /** @param {Asked} other */
    put(other) {
      [field.value, box.checked] = [other.text, other.chat];
      compare();
    },
    focus: () => field.focus(),
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
      compare();
    },
  };
}
