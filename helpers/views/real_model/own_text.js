// A text of the reader's own: read by the model, and continued by it.

import { button, slider, tick } from "../shared/controls.js";
import { h } from "../shared/page.js";
import { fixed } from "../shared/words.js";

const LENGTHS = [10, 20, 40, 80, 160]; // tokens that are written at most

/**
 * The controls, and the text that the model has before it, with what it wrote marked. Returns the
 * element; `begin(text)` reads a first one; `focus()`; `writing(on)`, whether it is writing now;
 * and `show(text, written)`, of which the second stands on a line of its own if it is an answer.
 * @param {{
 *   read: (text: string, chat: boolean) => void,
 *   write: (options: { temperature: number, topP: number, most: number }) => void,
 *   stop: () => void, back: () => void,
 * }} options
 */
export function ownText({ read, write, stop, back }) {
  const chosen = { temperature: 0.7, topP: 0.9, most: 40, chat: false };
  let isWriting = false;
  const field = h("textarea", {
    class: "own-text",
    rows: 2,
    "data-control": "own text",
    "aria-label": "your text; Enter reads it, Shift and Enter begin a new line",
    spellcheck: "false",
    onkeydown: (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      ask();
    },
  });
  const ask = () => read(field.value, chosen.chat);
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
    h(
      "div",
      { class: "controls" },
      button({ name: "read", label: "Read it", press: ask }),
      tick({
        name: "chat",
        label: "as a question in a chat",
        value: false,
        change: (on) => {
          chosen.chat = on;
          ask();
        },
      }),
    ),
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
    h("p", { class: "written", "data-value": "written" }, before, written),
  );
  return {
    element,
    begin(text) {
      field.value = text;
      ask();
    },
    focus: () => field.focus(),
    writing(on) {
      isWriting = on;
      writes.textContent = on ? "Stop" : "Write on";
    },
    /**
     * @param {string} text
     * @param {string} behind
     */
    show(text, behind, isAnswer = false) {
      before.textContent = isAnswer ? `${text}\n` : text;
      written.textContent = behind;
    },
  };
}
