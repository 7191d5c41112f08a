// Where the parts of a real model's view stand: the file's field above the picture, or in its
// place, once a model is open, the reader's text with all that is told beside it.

import { h } from "../shared/page.js";
import { OF_TABLES, openedInWords, STAYS } from "./in_words.js";

/** @typedef {{ element: HTMLElement }} Part */

export class Layout {
  /** @param {{ menu: Part, opening: Part & { another: HTMLElement }, picture: Part }} parts */
  constructor({ menu, opening, picture }) {
    this.opening = opening;
    this.ofTables = h("p", { class: "note", "data-value": "of tables" });
    this.place = h("div", {}, opening.element);
    const stays = h("p", { class: "note", "data-value": "stays" }, STAYS);
    this.status = h("p", { class: "note status", "aria-live": "polite", "data-value": "status" });
    this.wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
    this.told = h("div", {}, this.status, this.wrong); // beside the text, once there is one
    this.below = h("div", {}, this.told);
    this.elements = [menu.element, this.place, stays, this.below, picture.element];
  }

  tell(said) {
    this.status.textContent = said;
  }

  /** What went wrong; nothing, once something else is asked for. */
  complain(said) {
    this.wrong.textContent = said;
  }

  /**
   * The reader's text takes the place of the file's field.
   * @param {any} model
   * @param {Part & { place: HTMLElement, focus: () => void }} field
   */
  open(model, field) {
    const isHere = this.place.contains(document.activeElement);
    this.place.replaceChildren(
      h("p", { class: "note", "data-value": "opened" }, openedInWords(model)),
      h("div", { class: "controls nameless" }, this.opening.another),
      field.element,
    );
    field.place.append(this.told);
    this.ofTables.textContent = OF_TABLES;
    if (isHere) field.focus(); // what had it is gone
  }

  /** Back to the field for a file. */
  close() {
    this.place.replaceChildren(this.opening.element);
    this.below.append(this.told);
    this.ofTables.textContent = "";
  }
}
