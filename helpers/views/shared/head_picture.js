// All heads of all layers for one text: tokens, a map, one head's weights, a ranking, a next token.
// It knows nothing of where readings come from.

import { headFinder } from "./head_finder.js";
import { headMap } from "./head_map.js";
import { headRanking } from "./head_ranking.js";
import { onSecond } from "./head_readings.js";
import { exact, headName, SINK, tokenAt } from "./head_words.js";
import { heatMap } from "./heat_map.js";
import { inTurns } from "./in_turns.js";
import { nextTokens } from "./next_tokens.js";
import { h } from "./page.js";
import { tokenRows } from "./token_rows.js";
import { fixed } from "./words.js";

/** @import { Next, Reading } from "./head_readings.js" */
/** @import { Pair } from "./head_ranking.js" */

const LONG = 64; // tokens; of a text with more, one part is drawn in each frame
const NOBODY = { query: null, key: null };

/**
 * The view of a reading. `change(off)` hears which heads are to be off, each as "13.8", the last
 * one behind the others; `jobs` are heads that are offered by what they do. Returns the element;
 * `show(reading, start)`, where `start` has the head, the query and the key to begin with, what is
 * to be `off`, `parts`, whether more than heads can be switched, `keeps`, whether the text is the
 * one before, so that what was chosen stays, and `atEnd`, whether the rows show their last tokens;
 * `answer(off, next)`, the next tokens without what is off, or null where they aren't known;
 * `expect(next)`, those of a text that grows; `whole(next)`, those with everything on; and
 * `tell(words, wrong)`, what is said beside the switches.
 * @param {{
 *   change: (off: string[]) => void, jobs?: [string, [number, number]][],
 * }} options
 */
export function headPicture({ change, jobs = [] }) {
  /** @type {Reading} */
  let reading;
  /** @type {[number, number]} */
  let chosen = [0, 0];
  /** @type {Pair} */
  let kept = NOBODY; // what was clicked, or reached by arrow keys
  /** @type {Pair} */
  let pointed = NOBODY; // what the mouse is on, for as long as it is
  /** @type {string[]} */
  let off = [];
  /** @type {{ before: Next | null, after: Next | null }} */
  let next = { before: null, after: null }; // with everything on, and without what is off
  let parts = false;
  let drawn = ""; // the head whose matrix is shown
  const pair = () => ({ query: pointed.query ?? kept.query, key: pointed.key ?? kept.key });
  const keep = (found) => {
    turns.finish();
    [kept, pointed] = [{ ...kept, ...found }, NOBODY];
    ranking.byPair();
    paint();
  };
  const point = (found) => {
    const before = pointed;
    pointed = { ...NOBODY, ...found };
    if (before.query !== pointed.query || before.key !== pointed.key) paint();
  };
  const choose = (place) => {
    chosen = place;
    paint();
  };

  const rows = tokenRows({ keep, point });
  const finder = jobs.length > 0 ? headFinder({ jobs, pick: choose }) : null;
  const caption = h("p", { class: "note said", "data-value": "caption" });
  const map = headMap({ pick: choose, tell: (place) => headName(place) + told(place) });
  const sentence = h("p", {
    class: "note said",
    "aria-live": "polite",
    "data-value": "sentence",
  });
  const matrix = heatMap({
    caption: "The chosen head's weights: a row for each query",
    point: (query) => point({ query }),
  });
  matrix.element.addEventListener("click", (event) => {
    const cell = /** @type {HTMLElement} */ (event.target).dataset.value ?? "";
    const [query, key] = cell.match(/\d+/g) ?? [];
    if (key !== undefined) keep({ query: Number(query), key: Number(key) });
  });
  const ranking = headRanking({ change: () => paint(), pick: choose });
  const predicted = nextTokens({ change });
  /** What was found with all that is off now. */
  const sidesOf = (found) =>
    off.length > 0 ? { before: null, after: found } : { before: found, after: null };
  const paintNext = () =>
    predicted.show({
      ...{ ...next, off, parts, predicts: reading.next !== null, map: reading.off },
      second: hides() && reading.tokens.length > 2 ? onSecond(reading) : null,
    });

  /** Whether the weights that are shown were read with the first token hidden. */
  const hides = () => reading.off.includes(SINK);
  const token = (i) => tokenAt(reading.tokens, i);
  const weight = ([layer, head], i, j) => reading.bytes(layer, head, i, j) / 255;
  /** Whether the chosen key comes behind the chosen query, which can't see it. */
  const isAhead = () => {
    const { query, key } = pair();
    return reading.causal && query !== null && key !== null && key > query;
  };
  const ahead = ({ query, key }) =>
    `${token(query)} can't look at ${token(key)}, which comes later`;
  /**
   * What a head does, in a few words.
   * @param {[number, number]} place
   */
  const told = (place) => {
    const score = ranking.score();
    if (score) return ` ${score.label}: ${fixed(score.of(reading, ...place))}`;
    const { query, key } = pair();
    if (query === null && key === null) return "";
    if (isAhead()) return `: ${ahead({ query, key })}`;
    const all = reading.tokens.map((_, i) => i);
    const best = (of) => all.reduce((top, i) => (of(i) > of(top) ? i : top), 0);
    const i = query ?? best((one) => weight(place, one, key));
    const j = key ?? best((one) => weight(place, i, one));
    const most = query === null || key === null ? " the most," : "";
    return `: ${token(i)} gives ${token(j)}${most} ${fixed(weight(place, i, j))}`;
  };
  const captionText = () => {
    const score = ranking.score();
    const { query, key } = pair();
    const more = "the stronger its colour, the more";
    const each =
      score || (query !== null && key !== null)
        ? ": "
        : query !== null
          ? ", with a column for each token: "
          : key !== null
            ? ", with a row for each token: "
            : ", with a row for each query and a column for each key. ";
    const says = score
      ? `the stronger its colour, ${score.does}.`
      : query === null && key === null
        ? "Choose a query and a key above."
        : isAhead()
          ? `${ahead({ query, key })}.`
          : query === null
            ? `${more} that one looks at ${token(key)}.`
            : `${more} ${token(query)} looks at ${key === null ? "that one" : token(key)}.`;
    return (
      `Each square is a head, layers across and heads down (${headName(chosen)} is layer ` +
      `${chosen[0]}, head ${chosen[1]})${each}${says}`
    );
  };

  const paintRows = () =>
    rows.show({ kept, pointed }, (i, j) => weight(chosen, i, j), {
      ...{ works: !off.includes(headName(chosen)), hides: hides() },
    });
  const paintMap = () => {
    const { query, key } = pair();
    const every = ranking.rank(kept);
    const scores = Object.fromEntries(every.map((one) => [headName(one.place), one]));
    const shown = ranking.score() ? NOBODY : { query, key };
    const single = shown.query !== null && shown.key !== null;
    caption.textContent = captionText();
    map.show({
      reading,
      ...shown,
      shade: ranking.score()
        ? (place) => scores[headName(place)].good
        : single
          ? (place) => weight(place, query, key)
          : null,
      faded: (place) => !scores[headName(place)].left,
      off: (place) => off.includes(headName(place)),
      chosen,
    });
    ranking.show(every, kept, chosen);
    sentence.textContent = `Layer ${chosen[0]}, head ${chosen[1]}${told(chosen)}.`;
    finder?.show(reading, chosen);
  };
  const paintMatrix = () => {
    const { query, key } = pair();
    if (drawn !== headName(chosen)) {
      drawn = headName(chosen);
      const hidden = (i, j) => reading.causal && j > i;
      const names = reading.tokens.map(exact);
      matrix.update(reading.weights(...chosen), names, names, hidden);
    }
    matrix.mark(query !== null ? "queries" : key !== null ? "keys" : null, query ?? key ?? 0);
    predicted.choose(chosen);
  };
  // What switches do stands in sight of the tokens on a phone, and beside the ranking elsewhere.
  const near = h("div");
  const effect = h("div", { class: "effect" }, predicted.elements);
  const panels = h(
    "div",
    { class: "panels" },
    h("div", { class: "found" }, ranking.elements),
    matrix.element,
  );
  const narrow = matchMedia("(max-width: 599px)");
  const arrange = () =>
    narrow.matches ? near.append(effect) : panels.insertBefore(effect, matrix.element);
  narrow.addEventListener("change", arrange);
  arrange();
  const turns = inTurns();
  const paint = () => {
    turns.finish();
    for (const part of [paintRows, paintMap, paintMatrix]) part();
  };
  return {
    element: h(
      "div",
      { class: "heads" },
      ...[rows.element, finder?.element, near, caption, map.element, sentence],
      panels,
    ),
    /**
     * @param {Reading} newReading
     * @param {{
     *   head?: [number, number], query?: number | null, key?: number | null, off?: string[],
     *   parts?: boolean, keeps?: boolean, atEnd?: boolean,
     * }} start
     */
    show(newReading, start = {}) {
      turns.finish();
      reading = newReading;
      const { keeps = false, atEnd = false } = start;
      [chosen, drawn, parts] = [start.head ?? chosen, "", start.parts ?? false];
      off = start.off ?? reading.off;
      const known = keeps ? next.before : null;
      next = sidesOf(off.join() === reading.off.join() ? reading.next : null);
      next.before ??= known;
      if (!keeps) kept = { query: start.query ?? null, key: start.key ?? null };
      pointed = NOBODY;
      const steps = [
        () => {
          rows.fill(reading.tokens, { causal: reading.causal, atEnd });
          paintRows();
        },
        paintNext,
        () => {
          ranking.read(reading, keeps);
          paintMap();
        },
        paintMatrix,
      ];
      turns.begin(steps);
      if (reading.tokens.length <= LONG) turns.finish();
    },
    /**
     * @param {string[]} newOff
     * @param {Next | null} found
     */
    answer(newOff, found) {
      off = newOff;
      next =
        off.length > 0 ? { ...next, after: found } : { before: found ?? next.before, after: null };
      paintNext();
      paint();
    },
    /**
     * What comes next in a text that has grown since it was read.
     * @param {Next} found
     */
    expect(found) {
      next = sidesOf(found);
      paintNext();
    },
    /**
     * What comes next with everything on, beside what comes without some parts.
     * @param {Next} found
     */
    whole(found) {
      next = { ...next, before: found };
      paintNext();
    },
    tell: predicted.tell,
  };
}
