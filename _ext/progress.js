// Answers that stay folded until the reader has guessed, and what this reader has done so far.
//
// Both are kept on this device alone, under one name in localStorage. Where the browser refuses
// that, answers open and close all the same, and nothing is said.
(() => {
  const NAME = "attention-one-step";
  const FORGET = "forget"; // in a page's address: when it was asked to remove what is kept
  const LATE = 60_000; // milliseconds: an address older than that asks for nothing
  /** @param {string | null} address of a page; its name, "" where it is this one */
  const pageOf = (address) => /([^/]*?)(\.html)?(#.*)?$/.exec(address ?? "")?.[1] ?? "";
  const page = pageOf(location.pathname);
  // Pages that have another name now: what was kept under the old one counts for the new.
  const MOVED = new Map([
    ["07_cross_attention", "cross_attention"],
    ["08_char_language_model", "07_char_language_model"],
  ]);

  let all = false; // whether all answers are open

  // Whatever else stands where an object should is taken for an empty one.
  const plain = (one) => (one instanceof Object && !Array.isArray(one) ? one : {});

  /**
   * What is kept: whether all answers are open, and for each page its steps done and their number.
   * @typedef {{ all: boolean, pages: { [page: string]: { done: Done, of: number } } }} Kept
   * @typedef {{ [step: string]: string | true }} Done
   * @returns {Kept}
   */
  const read = () => {
    try {
      const { all, pages } = plain(JSON.parse(localStorage.getItem(NAME) ?? "{}"));
      /** @type {Map<string, { done: Done, of: number }>} */
      const found = new Map();
      for (const [kept, one] of Object.entries(plain(pages))) {
        const { done, of } = plain(one);
        const name = MOVED.get(kept) ?? kept;
        const before = found.get(name) ?? { done: {}, of: 0 };
        // Of two names, the steps of both: a visit to the page counts them anew.
        const whole = {
          done: { ...before.done, ...plain(done) },
          of: before.of + (Number(of) || 0),
        };
        found.set(name, whole);
      }
      return { all: all === true, pages: Object.fromEntries(found) };
    } catch {
      return { all, pages: {} };
    }
  };

  /** @param {Kept | null} kept */
  const write = (kept) => {
    try {
      if (kept === null) localStorage.removeItem(NAME);
      else localStorage.setItem(NAME, JSON.stringify(kept));
    } catch {
      // Refused: this visit works without it.
    }
  };

  /**
   * A step's name: its words in short, so that a changed question is a new one (FNV-1a).
   * @param {string | null | undefined} words
   */
  const named = (words) => {
    let hash = 0x811c9dc5;
    for (const sign of (words ?? "").trim())
      hash = Math.imul(hash ^ Number(sign.codePointAt(0)), 0x01000193);
    return (hash >>> 0).toString(36);
  };

  /** @type {HTMLDetailsElement[]} */
  const answers = [...document.querySelectorAll(".cell.tag_hide-output > details")].filter(
    (one) => one instanceof HTMLDetailsElement,
  );
  const quizzes = [...document.querySelectorAll('.aos-view[data-module="quiz"]')];
  /** @type {Map<Element, string>} answers and quizzes to their steps' names */
  const names = new Map();
  // Once, when all views have run: later a button may say "Copied!" among the words.
  const nameSteps = () => {
    for (const answer of answers)
      names.set(answer, named(answer.parentElement?.querySelector(".cell_input pre")?.textContent));
    for (const quiz of quizzes) names.set(quiz, named(quiz.querySelector("legend")?.textContent));
  };

  /**
   * A step is done: an answer opened, or a question answered.
   * @param {Element} step
   * @param {string | true} how
   */
  const note = (step, how) => {
    const kept = read();
    kept.pages[page] ??= { done: {}, of: 0 };
    kept.pages[page].done[names.get(step) ?? ""] = how;
    countSteps(kept);
    tell();
  };

  /**
   * A step whose words have changed stays kept beside the new one, which is still to be done.
   * @param {Kept} kept
   */
  const countSteps = (kept) => {
    const here = kept.pages[page];
    if (here === undefined) return;
    here.of = new Set([...Object.keys(here.done), ...names.values()]).size;
    write(kept);
  };

  // --- the answers ---------------------------------------------------------------------

  const button = document.querySelector("button.all-answers");
  const opened = new Set(); // answers that the reader has opened, where storage refuses, too
  const shown = new Set(); // answers whose next toggle is none of the reader's
  const show = (answer, open) => {
    if (answer.open !== open) shown.add(answer);
    answer.open = open;
  };
  const switchAll = (on) => {
    all = on;
    button?.setAttribute("aria-pressed", String(all));
    for (const answer of answers) show(answer, all || opened.has(answer));
  };
  const howDone = (step) => read().pages[page]?.done[names.get(step) ?? ""];

  const startAnswers = () => {
    for (const answer of answers) {
      if (howDone(answer) !== undefined) opened.add(answer);
      answer.addEventListener("toggle", () => {
        if (shown.delete(answer) || !answer.open) return;
        opened.add(answer);
        note(answer, true);
      });
    }
    switchAll(read().all);
    if (!(button instanceof HTMLButtonElement) || answers.length === 0) return;
    button.hidden = false;
    button.addEventListener("click", () => {
      switchAll(!all);
      write({ ...read(), all });
    });
  };

  // On paper every answer is seen.
  const folded = [];
  addEventListener("beforeprint", () => {
    folded.push(...answers.filter((answer) => !answer.open)); // it may be heard twice
    for (const answer of folded) show(answer, true);
  });
  addEventListener("afterprint", () => {
    for (const answer of folded.splice(0)) show(answer, false);
  });

  // --- the questions -------------------------------------------------------------------

  const startQuizzes = () => {
    for (const quiz of quizzes) {
      const choices = [...quiz.querySelectorAll("input[type=radio]")];
      const words = (choice) => named(choice.parentElement?.querySelector("bdi")?.textContent);
      const chosen = howDone(quiz);
      for (const choice of choices) {
        if (choice instanceof HTMLInputElement && words(choice) === chosen) choice.click();
        choice.addEventListener("change", () => note(quiz, words(choice)));
      }
    }
  };

  // --- what is done --------------------------------------------------------------------

  const place = document.createElement("section");
  place.className = "progress-kept";
  place.setAttribute("aria-label", "Your progress");
  const said = document.createElement("p");
  const forget = document.createElement("button");
  forget.type = "button";
  forget.textContent = "Forget it";
  forget.addEventListener("click", () => {
    write(null);
    // What is written just before a page is loaded anew may be lost, in the store as in the
    // page's history: the address itself asks the new page to do it again.
    const anew = new URL(location.href);
    anew.searchParams.set(FORGET, String(Date.now()));
    location.replace(anew);
  });
  place.append(said, forget);

  /** Mark finished chapters in the list of contents, and say how much is kept. */
  const tell = () => {
    const { pages } = read();
    const count = Object.values(pages).reduce((sum, { done }) => sum + Object.keys(done).length, 0);
    place.hidden = count === 0;
    const word = count === 1 ? "answer" : "answers";
    said.textContent = `${count} ${word} of yours, kept on this device alone.`;
    for (const link of document.querySelectorAll(".bd-sidebar-primary nav a.internal")) {
      const { done = {}, of = 0 } = pages[pageOf(link.getAttribute("href")) || page] ?? {};
      const finished = of > 0 && Object.keys(done).length >= of;
      const mark = link.querySelector(".finished");
      if (finished && !mark) {
        const sign = document.createElement("span");
        sign.className = "finished";
        sign.setAttribute("role", "img");
        sign.setAttribute("aria-label", "finished");
        sign.textContent = " ✓";
        link.append(sign);
      } else if (!finished) mark?.remove();
    }
  };

  // Another tab may have kept or forgotten something, also while this page lay behind "Back".
  const refresh = () => {
    const kept = read();
    if (kept.all !== all) switchAll(kept.all);
    tell();
  };
  addEventListener("storage", ({ key }) => (key ?? NAME) === NAME && refresh());
  addEventListener("pageshow", ({ persisted }) => persisted && refresh());

  // The views of the page are modules, which have all run by then.
  document.addEventListener("DOMContentLoaded", () => {
    const here = new URL(location.href);
    if (here.searchParams.has(FORGET)) {
      const age = Date.now() - Number(here.searchParams.get(FORGET));
      if (age >= 0 && age < LATE) write(null);
      here.searchParams.delete(FORGET);
      history.replaceState(null, "", here);
    }
    document.querySelector(".bd-sidebar-primary")?.append(place);
    nameSteps();
    countSteps(read());
    startAnswers();
    startQuizzes();
    tell();
  });
})();
