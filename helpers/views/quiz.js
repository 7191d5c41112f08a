import { freshId, h } from "./shared/page.js";

/** A question and its answers; the chosen one says whether it is right, and why. */
export function render({ state, el }) {
  const { question, answers } = state;
  const group = freshId("answer");
  const verdict = h(
    "p",
    { class: "quiz-verdict", "aria-live": "polite", "data-value": "verdict" },
    "Choose an answer.",
  );
  // What was tried stays marked.
  const marks = answers.map((_, i) => h("span", { class: "quiz-mark", "data-value": `mark ${i}` }));
  const choose = (i) => {
    const { right, why } = answers[i];
    marks[i].textContent = right ? "✓ right" : "✗ no";
    verdict.replaceChildren(
      h("strong", {}, right ? "✓ Right." : "✗ Not this one."),
      " ",
      marked(why),
    );
  };
  const choice = ({ answer }, i) =>
    h(
      "label",
      {},
      h("input", {
        type: "radio",
        name: group,
        "data-control": `answer-${i}`,
        onchange: () => choose(i),
      }),
      h("span", {}, marked(answer), marks[i]),
    );

  el.append(
    h("fieldset", { class: "quiz" }, h("legend", {}, marked(question)), answers.map(choice)),
    verdict,
  );
}

/** A text whose `backticks` mark code; a direction of writing ends with it. */
function marked(text) {
  const pieces = text.split(/`([^`]+)`/);
  return h(
    "bdi",
    {},
    pieces.map((piece, i) => (i % 2 ? h("code", {}, piece) : piece)),
  );
}
