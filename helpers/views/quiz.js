import { freshId, h } from "./shared/page.js";

const QUIZ_STYLE = `
.aos-view .quiz { display: grid; gap: 0.25rem; }
.aos-view .quiz legend { float: none; margin: 0 0 0.25rem; max-width: 100%; }
.aos-view .quiz label {
  display: flex; flex-wrap: nowrap; gap: 0.6rem; align-items: start; padding: 0.3rem 0.5rem;
  border-radius: 5px; min-height: 1.75rem; cursor: pointer;
}
.aos-view .quiz label:has(:checked) { background: var(--faint); }
.aos-view .quiz input {
  flex: none; width: 1rem; height: 1.45em; min-height: 0; padding: 0; accent-color: var(--queries);
  cursor: pointer;
}
.aos-view .quiz label > span { min-width: 0; }
.aos-view .quiz-mark { white-space: nowrap; font-weight: 600; margin-left: 0.35rem; }
.aos-view .quiz-verdict {
  border-left: 3px solid var(--line); padding: 0.1rem 0 0.1rem 0.75rem; margin: 0.75rem 0 0.25rem;
}
.aos-view[data-module=quiz] summary { padding: 0.15rem 0; }
.aos-view[data-module=quiz] code {
  font-family: ui-monospace, monospace; font-size: 0.92em; color: inherit; background: var(--faint);
  border: 0; display: inline-block; max-width: 100%; border-radius: 3px; padding: 0.05em 0.25em;
}
/* The folded table holds sentences. */
.aos-view[data-module=quiz] :is(th, td) {
  white-space: normal; text-align: left; vertical-align: top;
}
.aos-view[data-module=quiz] :is(th, td:nth-child(3)) { white-space: nowrap; }
`;

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
    h("style", {}, QUIZ_STYLE),
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
