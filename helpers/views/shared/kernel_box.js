// What a kernel's box of ipywidgets says to a view beside it, and hears from it.

/**
 * Hear of each message that the kernel's box has; the box may come later than this view.
 * @param {string} name the box's own class
 * @param {(message: any, box: Element) => void} hear
 */
export function follow(name, hear) {
  let heard = "";
  const look = () => {
    const box = document.querySelector(`.${name}`);
    const text = box?.querySelector(".aos-frame")?.textContent ?? "";
    if (!box || text === "" || text === heard) return;
    heard = text;
    box.classList.add("aos-fed");
    hear(JSON.parse(text), box);
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  look();
}

/**
 * Write into one of the box's fields, as if a reader had typed it.
 * @param {Element} box
 * @param {number} place which of its fields, from 0
 * @param {string} text
 */
export function writeInto(box, place, text) {
  const field = box.querySelectorAll("input")[place];
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
