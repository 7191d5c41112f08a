// A text's tokens twice: those that look, and those that are looked at, with arcs between them.

import { arcsOver, LEAST_ARC } from "./arcs.js";
import { exactParts, signsInWords, tokenAt } from "./head_words.js";
import { listBox } from "./list_box.js";
import { COLOURS, h, mixed } from "./page.js";
import { fixed } from "./words.js";

/** @import { Pair } from "./head_ranking.js" */

const OFF = " This head is off: it still looks, but nothing of what it finds goes on (dashed).";
const NONE = { query: null, key: null };
const ROOM = 24; // above a line of tokens, for its arcs

/**
 * Two rows, of which a long one scrolls. `keep(found)` and `point(found)` hear which query or key
 * was chosen, and which the mouse is on, null when it leaves. Returns the element;
 * `fill(tokens, how)`, where a text that is `causal` has tokens that see none behind them; and
 * `show(pairs, share, how)`: what is chosen and what is pointed at, what a query gives to a key,
 * whether the head works, and whether the first token is hidden from all later ones.
 * @param {{
 *   keep: (found: Partial<Pair>) => void, point: (found: Partial<Pair>) => void,
 * }} options
 */
export function tokenRows({ keep, point }) {
  /** @type {string[]} */
  let tokens = [];
  /** @type {Partial<Pair>} */
  let seen = {}; // what was scrolled to
  let isCausal = false;
  let isRepeating = false; // so that some have their places beside them
  let toEnd = false; // whether both rows are to show their last tokens
  /** @type {Pair} */
  let wanted = NONE; // what is chosen, and to be scrolled to
  let due = 0; // the frame in which that is done, which measures the page anyway
  const row = (side, label) => {
    const list = listBox({
      name: side,
      label,
      class: "token-row",
      across: true,
      keep: (index) => keep({ [side]: index }),
      point: (index) => point({ [side]: index }),
    });
    const arcs = arcsOver(list.element);
    return { list, arcs, element: h("div", { class: "arched" }, list.element, arcs.element) };
  };
  const rows = {
    query: row("query", "query: the token that looks"),
    key: row("key", "key: the token that is looked at"),
  };
  const said = h("p", { class: "note said", "data-value": "asked" });
  const signs = h("p", { class: "note small", "data-value": "signs" });
  const inWords = (chosen, pointed) => {
    const name = (i) => (i === null ? "none" : tokenAt(tokens, i));
    return pointed === null || pointed === chosen
      ? `${name(chosen)} chosen`
      : `${name(pointed)} under the mouse, ${name(chosen)} chosen`;
  };
  /** So far that a token is seen; the page itself stays. */
  const scrollTo = (side, index) => {
    if (seen[side] === index) return;
    seen = { ...seen, [side]: index };
    if (index === null) return;
    const { element, list } = rows[side];
    const { offsetTop, offsetHeight } = list.option(index);
    const top = Math.min(element.scrollTop, offsetTop - ROOM);
    element.scrollTop = Math.max(top, offsetTop + offsetHeight - element.clientHeight);
  };
  return {
    element: h(
      "div",
      {},
      h(
        "div",
        { class: "looking" },
        h("span", { class: "side queries" }, "query"),
        rows.query.element,
        h("span", { class: "side keys" }, "key"),
        rows.key.element,
      ),
      said,
      signs,
    ),
    /**
     * @param {string[]} newTokens of which those that were there before stay
     * @param {{ causal: boolean, atEnd: boolean }} how `atEnd`: the last ones are to be seen
     */
    fill(newTokens, { causal, atEnd }) {
      let same = 0;
      while (same < newTokens.length && newTokens[same] === tokens[same]) same += 1;
      const more = newTokens.slice(same);
      [tokens, seen, wanted, toEnd, isCausal] = [newTokens, {}, NONE, atEnd, causal];
      signs.textContent =
        signsInWords(tokens) +
        `The thicker an arc, the larger the weight; one below ${fixed(LEAST_ARC)} has no arc.` +
        (causal
          ? " Hatched: out of sight, since a token sees only itself and those before it."
          : "");
      isRepeating = new Set(tokens).size < tokens.length;
      for (const side of ["query", "key"]) {
        rows[side].list.fill(
          more.map((one, i) => [
            h("span", { class: "token" }, exactParts(one)),
            h("span", { class: "share", "data-value": `${side} ${same + i}` }),
          ]),
          same,
        );
      }
    },
    /**
     * The tokens, each on as much colour as the head gives it, or gets from it.
     * @param {{ kept: Pair, pointed: Pair }} pairs
     * @param {(query: number, key: number) => number} share
     */
    show({ kept, pointed }, share, { works = true, hides = false } = {}) {
      const query = pointed.query ?? kept.query;
      const key = pointed.key ?? kept.key;
      /** @type {(i: number) => number | null} */
      const given = (i) => (query === null ? null : share(query, i));
      /** @type {(i: number) => number | null} */
      const got = (i) => (key === null ? null : share(i, key));
      const isAhead = {
        query: (i) => isCausal && key !== null && i < key,
        key: (i) => isCausal && query !== null && i > query,
      };
      const paint = (side, of) => {
        const { list } = rows[side];
        list.mark(kept[side]);
        for (const i of tokens.keys()) {
          const option = list.option(i);
          const number = of(i);
          option.classList.toggle("pointed", i === pointed[side]);
          option.style.backgroundColor = number === null ? "" : mixed(COLOURS.weights, 65 * number);
          const isHidden = hides && side === "key" && i === 0 && query !== 0;
          option.classList.toggle("unseen", isHidden);
          option.classList.toggle("ahead", isAhead[side](i));
          /** @type {HTMLElement} */ (option.lastChild).textContent = isHidden
            ? "hidden"
            : number === null
              ? ""
              : fixed(number);
        }
      };
      paint("query", got);
      paint("key", given);
      wanted = kept;
      due ||= requestAnimationFrame(() => {
        due = 0;
        for (const side of ["query", "key"]) {
          const { element } = rows[side];
          if (toEnd) element.scrollTop = element.scrollHeight;
          scrollTo(side, wanted[side]);
        }
        toEnd = false;
      });
      const all = (of) => tokens.map((_, i) => of(i));
      rows.key.arcs.show(query, query === null ? [] : all(given), works);
      rows.query.arcs.show(query === null ? key : null, key === null ? [] : all(got), works);
      said.textContent =
        `Query: ${inWords(kept.query, pointed.query)}. ` +
        `Key: ${inWords(kept.key, pointed.key)}.` +
        (query === null ? "" : " Below each key: the weight that the query gives it.") +
        (key === null ? "" : " Below each query: the weight that it gives the key.") +
        (works ? "" : OFF) +
        (isRepeating ? " Places are counted from 0." : "");
    },
  };
}
