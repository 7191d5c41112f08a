import { button, field } from "./shared/controls.js";
import { dot, matmul, softmax, sum, transpose } from "./shared/mathematics.js";
import { COLOURS, freshId, h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

const LARGEST_ENTRY = 100;
const places = (number) => fixed(number, 4);

/** One word's query meets every key; every number on the way to its context is shown. */
export function render({ state, el }) {
  const { inputs, words, features } = state;
  const keys = matmul(inputs, state.W_key);
  const values = matmul(inputs, state.W_value);
  let entries = state.W_query.map((row) => [...row]);
  let word = state.word;

  const parts = inputs[0].map(() => h("td", {}));
  const asking = h("th", { scope: "col" });
  const query = entries[0].map((_, j) =>
    h("span", { "data-value": `query ${j}`, class: "queries" }),
  );
  const below = h("th", { scope: "row", colspan: 2 }, h("span", { class: "queries" }, "query"));
  const lookup = scroll("What each word gives");
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const show = (news = "") => {
    const steps = follow(matmul([inputs[word]], entries)[0], keys, values);
    asking.textContent = words[word];
    parts.forEach((part, i) => {
      part.textContent = `${fixed(inputs[word][i])} ×`;
    });
    query.forEach((cell, j) => {
      cell.textContent = places(steps.query[j]);
    });
    lookup.replaceChildren(lookupTable(words, keys, values, steps));
    sentence.textContent =
      `${isolated(words[word])} takes ${most(steps.weights, words)}. ` +
      `Its context is (${steps.context.map(places).join(", ")}), ` +
      `the sum of the last columns.${news}`;
  };
  const fields = entries.map((row, i) =>
    row.map((_, j) =>
      entryField(
        [i, j],
        features[i],
        () => entries[i][j],
        state.W_query[i][j],
        (number) => {
          entries[i][j] = number;
          show();
        },
      ),
    ),
  );
  const reset = () => {
    entries = state.W_query.map((row) => [...row]);
    for (const [i, row] of fields.entries())
      for (const [j, input] of row.entries()) input.value = places(entries[i][j]);
    show(" W_query is back as it was.");
  };

  el.append(
    pick(words, word, (chosen) => {
      word = chosen;
      show();
    }),
    h(
      "div",
      { class: "panels" },
      h(
        "div",
        {},
        scroll(
          "From word to query",
          table(
            "From word to query",
            [
              asking,
              h("th", { scope: "colgroup", colspan: 1 + query.length, class: "middle" }, "W_query"),
            ],
            fields.map((row, i) => [parts[i], h("th", { scope: "row" }, features[i]), ...row]),
            { foot: [below, ...query] },
          ),
        ),
        h(
          "div",
          { class: "controls" },
          button({ name: "reset", label: "Reset W_query", press: reset }),
        ),
      ),
      lookup,
    ),
    sentence,
  );
  show();
}

/** All that follows from a query. */
function follow(query, keys, values) {
  const scores = keys.map((key) => dot(query, key));
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const weights = softmax(scaled);
  const weighted = values.map((value, i) => value.map((number) => weights[i] * number));
  return { query, scores, scaled, weights, weighted, context: transpose(weighted).map(sum) };
}

/** Who gives the most, or that nobody does. */
function most(weights, words) {
  const top = Math.max(...weights);
  const winners = words.filter((_, i) => top - weights[i] < 1e-9);
  if (winners.length > 1)
    return `the most, ${places(top)} each, from ${winners.length} words alike`;
  return `most from ${isolated(winners[0])}: ${places(top)} of its value`;
}

/** The words in their order, one of them chosen. */
function pick(words, word, change) {
  const group = freshId("word");
  return h(
    "fieldset",
    { class: "controls centred" },
    h("legend", {}, "The word that asks:"),
    words.map((name, i) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: group,
          "data-control": `word ${i}`,
          checked: i === word,
          onchange: () => change(i),
        }),
        name,
      ),
    ),
  );
}

/** A field for an entry; what can't be used gives way to the number in use. */
function entryField([i, j], feature, used, start, change) {
  const input = field({
    name: `W_query ${i} ${j}`,
    label: `W_query, row ${isolated(feature)}, column ${j}`,
    value: places(start),
    change: (number) => {
      // The field shows four decimals of its first number; back there, all of them count.
      if (Math.abs(number) <= LARGEST_ENTRY)
        change(number === Number(places(start)) ? start : number);
    },
  });
  input.addEventListener("change", () => {
    const usable = input.value !== "" && Math.abs(Number(input.value)) <= LARGEST_ENTRY;
    if (!usable) input.value = places(used());
  });
  return input;
}

function lookupTable(words, keys, values, steps) {
  const wide = { key: keys[0].length, value: values[0].length };
  const head = (name, role, span) =>
    h(
      "th",
      { scope: span > 1 ? "colgroup" : "col", colspan: span, class: "middle" },
      h("span", { class: role }, name),
    );
  const cells = (numbers) => numbers.map((number) => h("td", {}, places(number)));
  const row = (name, i) => [
    name,
    ...cells(keys[i]),
    h("td", { "data-value": `score ${i}` }, places(steps.scores[i])),
    h("td", { "data-value": `scaled ${i}` }, places(steps.scaled[i])),
    h(
      "td",
      { "data-value": `weight ${i}`, class: "weighed", style: bar(steps.weights[i]) },
      places(steps.weights[i]),
    ),
    ...cells(values[i]),
    ...steps.weighted[i].map((number, j) =>
      h("td", { "data-value": `weighted ${i} ${j}` }, places(number)),
    ),
  ];
  const heads = [
    null,
    head("key", "keys", wide.key),
    head("score"),
    head(`÷ √${wide.key}`),
    head("weight", "weights"),
    head("value", "values", wide.value),
    head("weight × value", undefined, wide.value),
  ];
  const foot = [
    "sum",
    h("td", { colspan: wide.key + 2 }),
    places(sum(steps.weights)),
    h("td", { colspan: wide.value }),
    ...steps.context.map((number, j) =>
      h("td", { "data-value": `context ${j}`, class: "total" }, places(number)),
    ),
  ];
  return table("What each word gives", heads, words.map(row), { class: "small", foot });
}

/** A bar behind a weight: the whole cell is 1. */
function bar(weight) {
  const [colour, end] = [mixed(COLOURS.weights, 45), `${100 * weight}%`];
  const painted = `linear-gradient(to right, ${colour} ${end}, transparent ${end})`;
  return `background: ${painted}`;
}
