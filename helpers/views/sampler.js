import { button, slider } from "./shared/controls.js";
import { randomFrom, sum } from "./shared/mathematics.js";
import { h, scroll, table } from "./shared/page.js";
import { fixed, isolated, visible } from "./shared/words.js";
import { drawFrom, nextProbabilities } from "./shared/sampling.js";
const SEED = 1;

/** Temperature, top-k and top-p on a row of logits; draws are counted against the probabilities. */
export function render({ state, el }) {
  const { logits } = state;
  const names = state.characters.map(visible);
  const order = logits
    .map((_, id) => id)
    .sort((one, other) => logits[other] - logits[one] || one - other);
  const options = { temperature: 1, topK: null, topP: null };
  let probabilities, counts, random, drawn;
  const numbers = scroll("Probabilities and draws");
  numbers.classList.add("tall");
  const said = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const reset = () => {
    probabilities = nextProbabilities(logits, options);
    [counts, random, drawn] = [logits.map(() => 0), randomFrom(SEED), null];
    show();
  };
  const set = (name) => (value) => {
    options[name] = value;
    reset();
  };
  const take = (count) => () => {
    for (let i = 0; i < count; i += 1) {
      drawn = drawFrom(probabilities, random);
      counts[drawn] += 1;
    }
    show(count);
  };
  const show = (count) => {
    numbers.replaceChildren(samplerTable({ order, names, probabilities, counts }));
    said.textContent =
      drawn === null
        ? cutSentence(logits, options, probabilities)
        : drawSentence(names[drawn], probabilities, counts, count);
  };

  const ks = logits.map((_, i) => i + 1);
  const ps = Array.from({ length: 20 }, (_, i) => (i + 1) / 20);
  el.append(
    h(
      "div",
      { class: "controls" },
      slider({
        name: "temperature",
        label: "Temperature",
        min: 0,
        max: 3,
        step: 0.1,
        value: 1,
        text: (x) => fixed(x, 1),
        change: set("temperature"),
      }),
      slider({
        name: "top-k",
        label: "Top-k",
        choices: ks,
        value: logits.length,
        text: (k) => (k === logits.length ? "all" : String(k)),
        change: (k) => set("topK")(k === logits.length ? null : k),
      }),
      slider({
        name: "top-p",
        label: "Top-p",
        choices: ps,
        value: 1,
        text: (p) => (p === 1 ? "all" : fixed(p)),
        change: (p) => set("topP")(p === 1 ? null : p),
      }),
    ),
    h(
      "div",
      { class: "controls" },
      button({ name: "draw 1", label: "Draw 1", press: take(1) }),
      button({ name: "draw 1000", label: "Draw 1,000", press: take(1000) }),
    ),
    said,
    numbers,
  );
  reset();
}

/** A row a character, the most probable first: a bar for its probability, a mark for its share. */
function samplerTable({ order, names, probabilities, counts }) {
  const total = sum(counts);
  const row = (id) => {
    const share = total ? counts[id] / total : null;
    return [
      names[id],
      h(
        "td",
        { class: probabilities[id] === 0 ? "off" : undefined, "data-value": `probability ${id}` },
        fixed(probabilities[id], 3),
      ),
      h(
        "td",
        { class: "chance", "aria-hidden": "true" },
        h("span", { class: "exact", style: `width: ${fixed(100 * probabilities[id])}%` }),
        counts[id] === 0
          ? null
          : h("span", { class: "share", style: `left: ${fixed(100 * (share ?? 0))}%` }),
      ),
      h("td", { "data-value": `share ${id}` }, share === null ? "" : fixed(share, 3)),
      h("td", { "data-value": `count ${id}` }, String(counts[id])),
    ];
  };
  return table(
    "The next character: a bar for its probability, a mark for its share of the draws",
    [null, "probability", null, "share", "drawn"],
    order.map(row),
  );
}

/** How many characters are left, and what they had before the rest was cut off. */
function cutSentence(logits, { temperature }, probabilities) {
  const left = probabilities.filter((p) => p > 0).length;
  if (temperature === 0) return "Temperature 0: the largest logit takes all.";
  const before = sum(
    nextProbabilities(logits, { temperature }).filter((_, id) => probabilities[id] > 0),
  );
  const cut =
    left < logits.length
      ? `${left} of ${logits.length} characters are left; their probabilities summed to ` +
        `${fixed(before, 3)} and were divided by it.`
      : `All ${logits.length} characters can be drawn.`;
  return `${cut} The largest probability is ${fixed(Math.max(...probabilities), 3)}.`;
}

function drawSentence(name, probabilities, counts, count) {
  const total = sum(counts);
  const gap = Math.max(...probabilities.map((p, id) => Math.abs(p - counts[id] / total)));
  const all = total === 1 ? "1 draw so far" : `${total.toLocaleString("en")} draws so far`;
  const what = count === 1 ? `Drawn: ${isolated(name)}. ` : "";
  return `${what}${all}; no share is farther than ${fixed(gap, 3)} from its probability.`;
}
