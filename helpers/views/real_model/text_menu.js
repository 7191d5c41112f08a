// Which text is shown: a recorded sentence, or the reader's own once there is one.

import { menu } from "../shared/controls.js";
import { h } from "../shared/page.js";
/** @import { Asked } from "./own_text.js" */

const OWN = "your own";

/**
 * A menu; `choose(asked)` hears what was chosen. Returns the element; `show(text, given)`, the text
 * in sight and, once a model has read it, what it was given, without what it wrote behind that; and
 * `forget()`, that there is no text of the reader's own any more.
 * @param {{ texts: string[], choose: (asked: Asked) => void }} options
 */
export function textMenu({ texts, choose }) {
  /** @type {Asked | null} */
  let own = null; // the last text that isn't a recorded sentence
  const element = h("div", { class: "controls" });
  return {
    element,
    /**
     * @param {string} text
     * @param {Asked | null} given
     */
    show(text, given) {
      const isOwn = given !== null && (given.chat || !texts.includes(text));
      if (isOwn) own = given.chat ? given : { text, chat: false };
      const hadFocus = element.contains(document.activeElement);
      element.replaceChildren(
        menu({
          name: "text",
          label: given ? "Text" : "Recorded sentence",
          options: own ? [OWN, ...texts] : texts,
          value: isOwn ? OWN : text,
          change: (chosen) => choose(chosen === OWN && own ? own : { text: chosen, chat: false }),
        }),
      );
      if (hadFocus) element.querySelector("select")?.focus();
    },
    forget() {
      own = null;
    },
  };
}
