// Files that a reader hands over: chosen, or dropped.

import { h } from "./page.js";

/**
 * A field for a file, which keeps its name in sight; the same file may be chosen again.
 * @param {{ name: string, label: string, accept: string, open: (file?: File) => void }} options
 */
export function fileField({ name, label, accept, open }) {
  const input = h("input", {
    type: "file",
    accept,
    "data-control": name,
    onclick: () => {
      input.value = ""; // else a browser doesn't tell that the same file was chosen
    },
    onchange: () => open(input.files?.[0]),
  });
  return h("label", {}, `${label} `, input);
}

/**
 * A file that is dropped onto an element is opened.
 * @param {HTMLElement} el
 * @param {(file?: File) => void} open
 */
export function dropsFiles(el, open) {
  const over = (on) => (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    el.classList.toggle("dropping", on);
  };
  el.addEventListener("dragover", over(true));
  el.addEventListener("dragleave", over(false));
  el.addEventListener("drop", (event) => {
    over(false)(event);
    open(event.dataTransfer?.files[0]);
  });
}
