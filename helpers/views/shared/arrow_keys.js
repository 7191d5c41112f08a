// Where a key leads in a list: the arrows, Home and End.

/**
 * The index to go to, null to let go (Escape), or undefined where the key does nothing in a list.
 * A key that leads somewhere doesn't scroll the page.
 * @param {KeyboardEvent} event
 * @param {number | null} now what is chosen
 * @param {number} last the last index, -1 in an empty list
 */
export function walked(event, now, last) {
  const from = now ?? -1;
  const to = {
    ArrowDown: from + 1,
    ArrowRight: from + 1,
    ArrowUp: from - 1,
    ArrowLeft: from - 1,
    Home: 0,
    End: last,
  }[event.key];
  if (event.key === "Escape") return null;
  if (to === undefined || last < 0) return undefined;
  event.preventDefault();
  return Math.max(0, Math.min(last, to));
}
