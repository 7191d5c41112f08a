import { menu } from "./shared/controls.js";
import { headPicture } from "./shared/head_picture.js";
import { unpackReading } from "./shared/head_readings.js";
import { follow, writeInto } from "./shared/kernel_box.js";
import { h } from "./shared/page.js";

const OWN = "the one in the field above";

/** Every head of a model: of recorded texts; with a kernel's box, of any text. */
export function render({ state, el }) {
  const readings = state.readings.map(unpackReading);
  const texts = readings.map(({ text }) => text);
  let shown = readings[0];
  /** @type {Element | null} */
  let box = null; // where the kernel listens: a field for the text, and one for heads
  const picture = headPicture({
    change: (off) => (box ? writeInto(box, 1, off.join(", ")) : answer(off.slice(-1))),
  });
  const wrong = h("p", { class: "note text wrong", role: "alert", "data-value": "wrong" });
  const choice = h("div", { class: "controls" });
  const offer = (options, value) =>
    choice.replaceChildren(
      menu({
        name: "text",
        label: "Text",
        options,
        value,
        change: (text) => (box && text !== OWN ? writeInto(box, 0, text) : show(reading(text))),
      }),
    );
  const reading = (text) => readings[texts.indexOf(text)] ?? shown;
  const show = (found, start = {}) => {
    shown = found;
    picture.show(found, start);
  };
  /** What was recorded of one head. */
  const answer = (off) => {
    const [layer, head] = (off[0] ?? "").split(".").map(Number);
    picture.answer(off, off.length > 0 ? (shown.without?.(layer, head) ?? null) : null);
  };

  if (texts.length > 1) offer(texts, texts[0]);
  el.append(choice, wrong, picture.element);
  show(shown, state.start);
  if (state.box)
    follow(state.box, (message, found) => {
      box = found;
      const { text } = message.reading;
      const known = texts.includes(text);
      if (text !== shown.text) show(known ? reading(text) : unpackReading(message.reading));
      if (choice.querySelector("select")?.value !== (known ? text : OWN))
        offer([...texts, OWN], known ? text : OWN);
      picture.answer(message.off, message.after);
      wrong.textContent = message.error;
    });
}
