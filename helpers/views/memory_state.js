import { button, field, slider } from "./shared/controls.js";
import { matmul } from "./shared/mathematics.js";
import { COLOURS, freshId, h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated, several } from "./shared/words.js";

const LARGEST_ENTRY = 100;
const RULES = ["added", "overwritten"];

/** Pairs are written into two memories: one adds, the other overwrites what a key had. */
export function render({ state, el }) {
  const { keys, names } = state;
  const width = state.values[0].length;
  let chosen = 0;
  let entries, beta, kept, memories, last, count;

  const written = scroll("The two states");
  const found = scroll("What each key reads");
  const next = h("p", { class: "note", "data-value": "next" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });

  const begin = () => {
    memories = Object.fromEntries(
      RULES.map((rule) => [rule, keys[0].map(() => Array(width).fill(0))]),
    );
    [last, count] = [names.map(() => null), 0];
  };
  const writtenBy = (rule, place, value, share, left) => {
    const faded = memories[rule].map((row) => row.map((number) => number * left));
    const there = matmul([keys[place]], faded)[0];
    const news = value.map((number, j) =>
      rule === "added" ? number : share * (number - there[j]),
    );
    return { faded, news };
  };
  const write = (place, value, share, left) => {
    for (const rule of RULES) {
      const { faded, news } = writtenBy(rule, place, value, share, left);
      memories[rule] = faded.map((row, i) =>
        row.map((number, j) => number + keys[place][i] * news[j]),
      );
    }
    last[place] = [...value];
    count += 1;
  };
  const preview = () => {
    const [one, other] = RULES.map((rule) => {
      const { news } = writtenBy(rule, chosen, entries[chosen], beta, kept);
      return `(${news.map((number) => fixed(number)).join(", ")})`;
    });
    next.textContent =
      `The next write puts ${one} under ${isolated(names[chosen])} where pairs are added, ` +
      `and ${other} where they overwrite: the value less what is there.`;
  };
  const show = (news) => {
    written.replaceChildren(statesTable(memories));
    found.replaceChildren(readTable(names, keys, memories, last));
    sentence.textContent = news + summary(keys, memories, last, count);
    preview();
  };
  const fields = Array.from({ length: width }, (_, j) => {
    const input = field({
      name: `value ${j}`,
      label: `Value, feature ${j}`,
      value: fixed(state.values[0][j]),
      change: (number) => {
        if (Math.abs(number) > LARGEST_ENTRY) return;
        entries[chosen][j] = number;
        preview();
      },
    });
    input.addEventListener("change", () => {
      const usable = input.value !== "" && Math.abs(Number(input.value)) <= LARGEST_ENTRY;
      if (!usable) input.value = fixed(entries[chosen][j]);
    });
    return input;
  });
  const fill = () => {
    for (const [j, input] of fields.entries()) input.value = fixed(entries[chosen][j]);
  };
  const press = () => {
    write(chosen, entries[chosen], beta, kept);
    show(`${isolated(names[chosen])} has written. `);
  };
  const empty = () => {
    begin();
    entries = state.values.map((row) => [...row]);
    fill();
    show("Both memories are empty. ");
  };

  entries = state.values.map((row) => [...row]);
  [beta, kept] = [1, 1];
  begin();
  for (const place of state.writes) write(place, state.values[place], 1, 1);
  el.append(
    pick(names, (place) => {
      chosen = place;
      fill();
      preview();
    }),
    h(
      "div",
      { class: "controls centred" },
      h("span", { class: "values" }, "value"),
      fields,
      button({ name: "write", label: "Write the pair", press }),
      button({ name: "empty", label: "Empty both", press: empty }),
    ),
    h(
      "div",
      { class: "controls" },
      slider({
        name: "kept",
        label: "Kept before each write (both)",
        min: 0,
        max: 1,
        step: 0.05,
        value: 1,
        text: fixed,
        change: (number) => {
          kept = number;
          preview();
        },
      }),
      slider({
        name: "beta",
        label: "beta (delta rule)",
        min: 0,
        max: 1,
        step: 0.05,
        value: 1,
        text: fixed,
        change: (number) => {
          beta = number;
          preview();
        },
      }),
    ),
    next,
    sentence,
    h("div", { class: "panels" }, written, found),
  );
  show("");
}

/** The keys' names, one of them chosen. */
function pick(names, change) {
  const group = freshId("key");
  return h(
    "fieldset",
    { class: "controls centred" },
    h("legend", {}, "The key that writes:"),
    names.map((name, i) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: group,
          "data-control": `key ${i}`,
          checked: i === 0,
          onchange: () => change(i),
        }),
        name,
      ),
    ),
  );
}

/** Both states, a row for each feature of the keys. */
function statesTable(memories) {
  const width = memories[RULES[0]][0].length;
  const heads = RULES.map((rule) =>
    h("th", { scope: "colgroup", colspan: width, class: "middle" }, rule),
  );
  const rows = memories[RULES[0]].map((_, i) => [
    h("th", { scope: "row", class: "keys" }, String(i)),
    ...RULES.flatMap((rule) =>
      memories[rule][i].map((number, j) =>
        h(
          "td",
          {
            "data-value": `${rule} ${i} ${j}`,
            style: `background: ${mixed(COLOURS.values, 45 * Math.min(1, Math.abs(number) / 3))}`,
          },
          fixed(number),
        ),
      ),
    ),
  ]);
  return table(
    "The two states: linear attention adds, the delta rule overwrites; a row is a feature of keys",
    [null, ...heads],
    rows,
    { class: "small" },
  );
}

/** What each key finds in both, beside what it wrote last. */
function readTable(names, keys, memories, last) {
  const width = memories[RULES[0]][0].length;
  const reads = Object.fromEntries(RULES.map((rule) => [rule, matmul(keys, memories[rule])]));
  const heads = ["written last", "added", "overwritten"].map((name) =>
    h("th", { scope: "colgroup", colspan: width, class: "middle" }, name),
  );
  const rows = names.map((name, i) => [
    h("th", { scope: "row", class: "keys" }, name),
    ...Array.from({ length: width }, (_, j) =>
      h("td", { "data-value": `last ${i} ${j}` }, last[i] === null ? "–" : fixed(last[i][j])),
    ),
    ...RULES.flatMap((rule) =>
      reads[rule][i].map((number, j) =>
        h("td", { "data-value": `${rule} read ${i} ${j}` }, fixed(number)),
      ),
    ),
  ]);
  return table("What each key reads", [null, ...heads], rows, { class: "small" });
}

/** How far each memory is from what was written last. */
function summary(keys, memories, last, count) {
  const far = (rule) => {
    const reads = matmul(keys, memories[rule]);
    const gaps = last.flatMap((value, i) =>
      value === null ? [] : value.map((number, j) => Math.abs(reads[i][j] - number)),
    );
    return fixed(Math.max(0, ...gaps));
  };
  return (
    `${several(count, "write")} so far. Farthest from a value written last: ` +
    `${far("added")} where pairs are added, ${far("overwritten")} where they overwrite.`
  );
}
