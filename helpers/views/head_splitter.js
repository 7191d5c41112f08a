import { slider, tick } from "./shared/controls.js";
import { dot, matmul, softmax } from "./shared/mathematics.js";
import { h, mixed, scroll, table } from "./shared/page.js";
import { fixed, isolated } from "./shared/words.js";

// None of them means queries, keys or values.
const HEAD_FILLS = ["#56B4E9", "#E69F00", "#F0E442", "#999999"];
const TOKEN_BORDERS = ["2px solid", "2px dashed", "2px dotted", "4px double"];
const SPLIT_STEPS = {
  keys: projectStep,
  view: viewStep,
  transpose: transposeStep,
  scores: scoresStep,
  contexts: contextsStep,
  merge: mergeStep,
};
const STEP_NAMES = Object.keys(SPLIT_STEPS);

/** Keys are cut into heads and grouped, step by step, with the transpose or without it. */
export function render({ state, el }) {
  let [step, direct] = [1, false];
  const code = h("p", { class: "note text", "data-value": "code" });
  const panel = h("div", { class: "panels" });
  const sentence = h("p", { class: "note", "aria-live": "polite", "data-value": "sentence" });
  const show = () => {
    const now = SPLIT_STEPS[STEP_NAMES[step - 1]](attended(state, direct));
    code.textContent = now.code;
    panel.replaceChildren(...now.tables);
    sentence.textContent = now.words;
  };
  el.append(
    h(
      "div",
      { class: "controls" },
      slider({
        name: "step",
        label: "step",
        choices: STEP_NAMES.map((_, i) => i + 1),
        value: step,
        text: (one) => `${one} of ${STEP_NAMES.length}: ${STEP_NAMES[one - 1]}`,
        change: (one) => {
          step = one;
          show();
        },
      }),
      tick({
        name: "direct",
        label: "leave the transpose out",
        value: direct,
        change: (on) => {
          direct = on;
          show();
        },
      }),
    ),
    code,
    panel,
    sentence,
    legend(state),
  );
  show();
}

// --- the steps: a line of code, tables, and what is to be seen in them ---------------------

function projectStep({ keys, tokens, direct, H, T, D }) {
  const pieces = cut(keys, H);
  return {
    code: `keys = x @ W_key\n(B, T, C) = (1, ${T}, ${H * D})`,
    tables: [
      tiles("keys", tokens, (t) => flatRow(pieces.slice(t * H, (t + 1) * H), t), slots(H, D)),
    ],
    words:
      `All heads stand side by side: in each token's row, ${D} numbers belong to each head. ` +
      (direct
        ? `Next: view(1, ${H}, ${T}, ${D}) alone.`
        : `Next: view(1, ${T}, ${H}, ${D}), then transpose(1, 2).`),
  };
}

function viewStep(all) {
  const { keys, tokens, direct, H, T, D } = all;
  if (direct)
    return {
      code: `keys.view(1, ${H}, ${T}, ${D})\n(B, H, T, D) = (1, ${H}, ${T}, ${D})`,
      tables: keyTables(all),
      words:
        "The shape is the one you want, " +
        `but view keeps the numbers in their order. ${held(all)}`,
    };
  const pieces = cut(keys, H);
  return {
    code: `keys.view(1, ${T}, ${H}, ${D})\n(B, T, H, D) = (1, ${T}, ${H}, ${D})`,
    tables: tokens.map((token, t) =>
      tiles(token, headNames(H), (g) => pieceRow(pieces[t * H + g], `${t} ${g}`)),
    ),
    words:
      "Each row is cut into heads, and the numbers keep their order: each token lists its heads.",
  };
}

function transposeStep(all) {
  const { direct, H, T, D } = all;
  return {
    code:
      (direct
        ? `keys.view(1, ${H}, ${T}, ${D})`
        : `keys.view(1, ${T}, ${H}, ${D}).transpose(1, 2)`) +
      `\n(B, H, T, D) = (1, ${H}, ${T}, ${D})`,
    tables: keyTables(all),
    words: direct
      ? `Left out: nothing moves, and nothing complains. ${held(all)}`
      : `Tokens and heads change places: each head lists its own ${D} numbers of every token.`,
  };
}

function scoresStep({ heads, tokens, H, T }) {
  const scores = heads.flatMap((head) => head.scores.flat());
  const crossed = scores.filter(({ from: [query, key] }) => query.head !== key.head).length;
  return {
    code: `scores = queries @ keys.transpose(2, 3)\n(B, H, T, T) = (1, ${H}, ${T}, ${T})`,
    tables: heads.map((head, g) =>
      tiles(
        `head ${g}`,
        tokens,
        (t) => head.scores[t].map((score, s) => tile(score, `${g} ${t} ${s}`)),
        tokens,
      ),
    ),
    words:
      `Each label names the query, then the key. ${crossed} of ${scores.length} scores compare ` +
      "a query and a key of different heads" +
      (crossed ? ": a box of two colours." : ": each head has a table of its own."),
  };
}

function contextsStep({ heads, tokens, H, T, D }) {
  const row = (head, g) => (t) => [
    ...pieceRow(head.contexts[t], `${g} ${t}`),
    h("td", { class: "takes", "data-value": `takes ${g} ${t}` }, head.takes[t].join(" ")),
  ];
  return {
    code:
      `contexts = softmax(masked scores / √${D}) @ values\n` +
      `(B, H, T, D) = (1, ${H}, ${T}, ${D})`,
    tables: heads.map((head, g) =>
      tiles(`head ${g}`, tokens, row(head, g), [...Array(D).fill(""), "values of"]),
    ),
    words:
      "Each context bears the label of the query that asked. The last column names the values " +
      "with a weight of 0.01 or more, under the causal mask.",
  };
}

function mergeStep({ heads, tokens, direct, H, T, D }) {
  const rows = tokens.map((_, t) => heads.map(({ contexts }) => contexts[t]));
  const late = rows.flatMap((row, t) =>
    row
      .filter(({ token }) => token > t)
      .map(
        ({ token }) => `Row ${isolated(tokens[t])} holds a context of ${isolated(tokens[token])}`,
      ),
  );
  const fine = direct
    ? "No row holds a context of a later token."
    : "Each token has its heads side by side again.";
  return {
    code:
      `contexts.transpose(1, 2).contiguous().view(1, ${T}, ${H * D})\n` +
      `(B, T, C) = (1, ${T}, ${H * D})`,
    tables: [tiles("contexts, merged", tokens, (t) => flatRow(rows[t], t), slots(H, D))],
    words: late.length
      ? `${[...new Set(late)].join(". ")}. The causal mask should have hidden later tokens.`
      : fine,
  };
}

function keyTables({ heads, tokens }) {
  return heads.map(({ keys }, g) =>
    tiles(`head ${g}`, tokens, (t) => pieceRow(keys[t], `${g} ${t}`)),
  );
}

/** Whose numbers each head holds, in words. */
function held({ heads, tokens, H }) {
  return heads
    .map(({ keys }, g) => {
      const owners = [...new Set(keys.map(({ token }) => token))].map((owner) => {
        const parts = keys.filter(({ token }) => token === owner).map(({ head }) => `head ${head}`);
        return parts.length === H
          ? `all numbers of ${isolated(tokens[owner])}`
          : `the numbers of ${isolated(tokens[owner])} for ${parts.join(" and ")}`;
      });
      return `Head ${g} now holds ${owners.join(", and ")}.`;
    })
    .join(" ");
}

// --- the numbers and where they come from ---------------------------------------------

/** Rows of C numbers as pieces of D, in their order; each knows its token and head. */
function cut(rows, H) {
  const D = rows[0].length / H;
  return rows.flatMap((row, token) =>
    Array.from({ length: H }, (_, head) => ({
      token,
      head,
      numbers: row.slice(head * D, (head + 1) * D),
    })),
  );
}

/** One list of T pieces for each head: view and transpose, or view alone. */
function grouped(rows, H, direct) {
  const [pieces, T] = [cut(rows, H), rows.length];
  return Array.from({ length: H }, (_, g) =>
    Array.from({ length: T }, (_, t) => pieces[direct ? g * T + t : t * H + g]),
  );
}

/** Each head's keys, scores, contexts under a causal mask, and whose values each context takes. */
function attended({ queries, keys, values, heads: H, tokens }, direct) {
  const [T, D] = [keys.length, keys[0].length / H];
  const [queryHeads, keyHeads, valueHeads] = [queries, keys, values].map((rows) =>
    grouped(rows, H, direct),
  );
  const heads = keyHeads.map((own, g) => {
    const scores = queryHeads[g].map((query) =>
      own.map((key) => ({ from: [query, key], number: dot(query.numbers, key.numbers) })),
    );
    const weights = scores.map((row, t) =>
      softmax(row.map(({ number }, s) => (s <= t ? number / Math.sqrt(D) : -Infinity))),
    );
    const averages = matmul(
      weights,
      valueHeads[g].map(({ numbers }) => numbers),
    );
    return {
      keys: own,
      scores,
      contexts: averages.map((numbers, t) => ({ ...queryHeads[g][t], numbers })),
      takes: weights.map((row) => valueHeads[g].filter((_, s) => row[s] >= 0.01).map(label)),
    };
  });
  return { keys, tokens, direct, heads, H, T, D };
}

function label({ token, head }) {
  return `t${token}h${head}`;
}

// --- tiles: a number, coloured by its head, framed by its token, with both as its label ----

function tint(head) {
  return mixed(HEAD_FILLS[head % HEAD_FILLS.length], 32);
}

function tileStyle(token, ...heads) {
  const [one, other = one] = heads.map(tint);
  return (
    `border: ${TOKEN_BORDERS[token % TOKEN_BORDERS.length]} currentColor; ` +
    `background: ${one === other ? one : `linear-gradient(135deg, ${one} 50%, ${other} 50%)`}`
  );
}

function tile({ number, from }, place) {
  return h(
    "td",
    { class: "tile", style: tileStyle(from[0].token, ...from.map(({ head }) => head)) },
    h("span", { "data-value": place }, fixed(number)),
    h("span", { "data-value": `label ${place}`, class: "from" }, from.map(label).join(" · ")),
  );
}

function pieceRow(piece, place) {
  return piece.numbers.map((number, d) => tile({ number, from: [piece] }, `${place} ${d}`));
}

/** The pieces of one token side by side. */
function flatRow(pieces, t) {
  return pieces.flatMap((piece, g) =>
    piece.numbers.map((number, d) =>
      tile({ number, from: [piece] }, `${t} ${g * piece.numbers.length + d}`),
    ),
  );
}

function slots(H, D) {
  return Array.from({ length: H * D }, (_, c) => `h${Math.floor(c / D)}.${c % D}`);
}

function headNames(H) {
  return Array.from({ length: H }, (_, g) => `head ${g}`);
}

/** A table whose rows are made by `row`; `columns` may name its columns. */
function tiles(caption, rows, row, columns = []) {
  return scroll(
    caption,
    table(
      caption,
      columns.length ? [null, ...columns.map((name) => name || null)] : null,
      rows.map((name, i) => [name, ...row(i)]),
      { class: "tiles" },
    ),
  );
}

/** What colours, frames and labels mean. */
function legend({ heads: H, tokens }) {
  const sample = (style, text, name) =>
    h("span", {}, h("span", { class: "swatch", style }, text), isolated(name));
  return h(
    "p",
    { class: "note keyed" },
    headNames(H).map((name, g) => sample(`background: ${tint(g)}`, `h${g}`, name)),
    tokens.map((name, t) =>
      sample(`border: ${TOKEN_BORDERS[t % TOKEN_BORDERS.length]} currentColor`, `t${t}`, name),
    ),
  );
}
