// The search: it answers while a reader types, and each hit leads to a section.
//
// The index and the ranking are MiniSearch's. It is loaded when a reader opens the search, with
// the book's sections; both are scripts, so that a page that was opened as a file has them, too.
// The words of a query and of the book reach the page as text alone.
(() => {
  const root = document.documentElement.dataset.content_root ?? "";
  const WORD = /[\p{L}\p{N}]+/gu;
  const SNIPPET = 170; // letters
  // An ending, without which a word finds its other forms: they begin alike.
  const ENDING = /(?:ings?|ies|ied|ed|es|[esy])$/;
  const NUMBER = /^\d+\. /; // before a chapter's title
  // Words that say nothing of what is looked for: nearly half of the book.
  const EMPTY = new Set(
    (
      "a an and are as at be but by can do does for from has have how if in is it its not of " +
      "on one or so than that the them they this to was what when where which who why with you your"
    ).split(" "),
  );
  // What leads to an explanation stands before what only mentions or repeats it.
  const KINDS = { chapter: 1.3, page: 1.1, glossary: 0.9, api: 0.2 };
  const ASIDE = /^(?:Exercise|Sources$|What to remember$|Check against)/;
  const FIELDS = { title: 3, terms: 4, page: 1, text: 1, code: 0.2 };
  const SOME = { prose: 8, api: 3, each: 3 }; // hits below the field, and of each page at most
  const MANY = { prose: 60, api: 30, each: 60 }; // on the page of the search

  /** @param {string} text */
  const wordsOf = (text) =>
    (text.toLowerCase().match(WORD) ?? []).filter((word) => !EMPTY.has(word));
  /** @param {string} word */
  const trimmed = (word) => {
    const start = word.replace(ENDING, "");
    return start.length < 3 ? word : start;
  };
  /**
   * The word with two neighbouring letters exchanged: one slip, for a count of edits two.
   * @param {string} word
   */
  const exchanged = (word) =>
    Array.from(
      { length: word.length - 1 },
      (_, i) => word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2),
    );
  /** @param {string} name */
  const plain = (name) => wordsOf(name).map(trimmed).join(" ");
  /**
   * What a section is about, by its title and the terms that it introduces.
   * @param {string} title
   * @param {string} terms
   */
  const namesOf = (title, terms) =>
    new Set([...title.replace(NUMBER, "").split(/, |: /), ...terms.split(", ")].map(plain));

  /**
   * A section, a term of the glossary, or an entry of the API.
   * @typedef {{ id: number, url: string, kind: string, page: string, title: string,
   *   text: string, terms: string, code: string, names: Set<string> }} Section
   * @typedef {{ section: Section, words: Set<string> }} Hit its words are those to be marked
   */

  /** @returns {Section[]} */
  const sectionsOf = (pages) =>
    pages
      .flatMap(([address, kind, sections]) =>
        sections.map(([title, anchor, text, terms, code]) => ({
          ...{ kind, title, text, terms, code },
          url: anchor ? `${address}#${anchor}` : address,
          page: anchor ? sections[0][0] : "",
          names: namesOf(title, terms),
        })),
      )
      .map((section, id) => ({ id, ...section }));

  /** @param {string} path */
  const script = (path) =>
    new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = `${root}_static/${path}`;
      element.addEventListener("load", done);
      element.addEventListener("error", failed);
      document.head.append(element);
    });

  /**
   * Load what is needed and make the index.
   * @param {string} version of the sections
   */
  const load = async (version) => {
    await Promise.all([
      script("vendor/minisearch-7.2.0.js"),
      script(`search-sections.js?v=${version}`),
    ]);
    const { MiniSearch, searchSections } = /** @type {any} */ (window);
    const sections = sectionsOf(searchSections);
    const fields = Object.keys(FIELDS);
    const index = new MiniSearch({ fields, tokenize: wordsOf, processTerm: (word) => word });
    await index.addAllAsync(sections, { chunkSize: 100 });
    return { sections, index };
  };

  /** @type {ReturnType<typeof load> | undefined} */
  let loading;
  /** @param {string} version */
  const loaded = (version) => {
    loading ??= load(version);
    loading.catch(() => (loading = undefined)); // another try when the reader goes on
    return loading;
  };

  /**
   * The hits of a query, the best first and the API's last. If no section has all words, similar
   * words count, and then any of the words.
   * @param {Awaited<ReturnType<typeof load>>} book
   * @param {string} query
   * @returns {{ how: "all" | "similar" | "any", hits: Hit[] }}
   */
  const search = ({ sections, index }, query) => {
    const words = [...new Set(wordsOf(query))];
    const asked = plain(query);
    const weigh = (id) => {
      const { kind, url, title, names } = sections[id];
      const begins = url.includes("#") ? 1 : 2;
      const aside = ASIDE.test(title) ? 0.5 : 1;
      return KINDS[kind] * begins * aside * (names.has(asked) ? 2 : 1);
    };
    const forms = words.map((word, n) => ({
      combineWith: "OR",
      queries: [...new Set([word, trimmed(word)])],
      prefix: word.length > 2 || n === words.length - 1,
    }));
    const settings = { boost: FIELDS, boostDocument: weigh };
    for (const [how, more] of /** @type {const} */ ([
      ["all", { combineWith: "AND" }],
      ["similar", { combineWith: "AND", fuzzy: 0.25 }],
      ["any", { combineWith: "OR" }],
    ])) {
      const { fuzzy = false, combineWith } = /** @type {any} */ (more);
      const queries = forms.map((form, n) => ({
        ...form,
        queries: [
          ...form.queries,
          ...(fuzzy ? [{ queries: exchanged(words[n]), combineWith: "OR", fuzzy: false }] : []),
        ],
        fuzzy,
      }));
      const found = index.search({ combineWith, queries }, settings);
      if (found.length === 0) continue;
      const hits = found.map(({ id, terms }) => ({ section: sections[id], words: new Set(terms) }));
      const isApi = ({ section }) => section.kind === "api";
      return { how, hits: [...hits.filter((hit) => !isApi(hit)), ...hits.filter(isApi)] };
    }
    return { how: "all", hits: [] };
  };

  /**
   * The hits that are shown.
   * @param {Hit[]} hits
   * @param {typeof SOME} most
   */
  const chosen = (hits, most) => {
    const counts = {};
    const within = (name, limit) => (counts[name] = (counts[name] ?? 0) + 1) <= limit;
    return hits.filter(({ section: { kind, url } }) =>
      kind === "api"
        ? within("api", most.api)
        : within(`page ${url.split("#")[0]}`, most.each) && within("prose", most.prose),
    );
  };

  // --- what is shown -------------------------------------------------------------------

  /**
   * The piece of a text in which most of the words stand.
   * @param {string} text
   * @param {Set<string>} words
   */
  const around = (text, words) => {
    const places = [...text.matchAll(WORD)]
      .map(({ 0: word, index }) => ({ word: word.toLowerCase(), index }))
      .filter(({ word }) => words.has(word));
    const count = ({ index }) =>
      new Set(
        places
          .filter((one) => one.index >= index && one.index < index + 120)
          .map((one) => one.word),
      ).size;
    const best = places.reduce((one, other) => (count(other) > count(one) ? other : one), {
      word: "",
      index: 0,
    });
    const from = best.index < 50 ? 0 : text.indexOf(" ", best.index - 50) + 1;
    const cut = text.lastIndexOf(" ", from + SNIPPET);
    const to =
      text.length <= from + SNIPPET ? text.length : cut > best.index ? cut : from + SNIPPET;
    return `${from ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
  };

  /**
   * A line of a hit, its words marked.
   * @param {string} name of its class
   * @param {string} text
   * @param {Set<string>} words
   */
  const line = (name, text, words) => {
    const element = document.createElement("span");
    element.className = name;
    let end = 0;
    for (const { 0: word, index } of text.matchAll(WORD)) {
      if (!words.has(word.toLowerCase())) continue;
      const mark = document.createElement("mark");
      mark.textContent = word;
      element.append(text.slice(end, index), mark);
      end = index + word.length;
    }
    element.append(text.slice(end));
    return element;
  };

  /** @param {Hit} hit */
  const shown = ({ section, words }) => {
    const { page, title, text, code, kind } = section;
    const has = (part) => wordsOf(part).some((word) => words.has(word));
    const names = code.split(" ").filter(has);
    const inCode = names.length > 0 && !has(`${page} ${title} ${text}`);
    const link = document.createElement("a");
    link.href = root + section.url;
    link.append(
      line("search-page", page || (kind === "chapter" ? "Chapter" : "Page"), words),
      line("search-title", title, words),
      line(
        "search-snippet",
        inCode ? `In the code: ${names.join(", ")}` : around(text, words),
        words,
      ),
    );
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  /**
   * What is said of the hits.
   * @param {string} query
   * @param {ReturnType<typeof search>} found
   */
  const said = (query, { how, hits }) => {
    if (hits.length === 0) return `Nothing found for “${query}”.`;
    const whys = {
      all: "",
      similar: `Nothing found for “${query}”. With similar words: `,
      any: "No section has all these words. With some of them: ",
    };
    return `${whys[how]}${hits.length} ${hits.length === 1 ? "hit" : "hits"}.`;
  };

  const keys = () => {
    const hint = document.createElement("span");
    hint.className = "search-keys";
    hint.textContent = " Enter opens the first, the arrow keys lead on.";
    return hint;
  };

  // --- a field and its answers ---------------------------------------------------------

  /** @param {HTMLElement} place that holds a field and the list below it */
  const start = (place) => {
    const form = place.querySelector("form");
    const field = place.querySelector("input");
    const status = place.querySelector(".search-status");
    const list = place.querySelector(".search-hits");
    if (!form || !field || !status || !list) return;
    const dialog = place instanceof HTMLDialogElement ? place : null;
    const version = place.dataset.version ?? "";
    /** @type {string | null} */
    let answered = ""; // the query whose hits are shown
    const links = () => [...list.querySelectorAll("a")];

    const answer = async () => {
      const query = field.value.trim();
      if (query === answered) return;
      if (!query) {
        list.replaceChildren();
        status.textContent = answered = "";
        return;
      }
      let book;
      try {
        if (!answered) status.textContent = "Searching …";
        book = await loaded(version);
      } catch {
        status.textContent = "The search couldn’t be loaded.";
        answered = null;
        return;
      }
      if (query !== field.value.trim()) return; // the reader has typed on
      answered = query;
      list.replaceChildren();
      list.scrollTop = 0;
      const found = search(book, query);
      const some = chosen(found.hits, dialog ? SOME : MANY);
      list.append(...some.map(shown));
      status.textContent = said(query, found);
      if (found.hits.length > 0) status.append(keys());
      if (dialog && some.length < found.hits.length) {
        const all = document.createElement("a");
        all.href = `${form.action}?q=${encodeURIComponent(query)}`;
        all.textContent = `All ${found.hits.length} hits`;
        const item = document.createElement("li");
        item.append(all);
        list.append(item);
      }
      // The way back from a hit leads to the same hits.
      if (!dialog) history.replaceState(history.state, "", `?q=${encodeURIComponent(query)}`);
    };

    field.addEventListener("focus", () => loaded(version).catch(() => {}));
    field.addEventListener("input", answer);
    form.addEventListener("submit", (event) => {
      if (field.value.trim() !== answered) return; // the search's own page answers
      event.preventDefault();
      links()[0]?.click();
    });
    place.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
      const stops = [field, ...links()];
      const at = stops.findIndex((one) => one === document.activeElement);
      if (at < 0) return;
      event.preventDefault();
      stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus();
    });
    list.addEventListener("click", () => dialog?.close()); // a hit may be on this page
    place.querySelector(".search-close")?.addEventListener("click", () => dialog?.close());

    if (!dialog) {
      field.value = new URLSearchParams(location.search).get("q") ?? "";
      field.focus();
      answer();
    }
  };

  document.querySelectorAll(".book-search").forEach((place) => {
    if (place instanceof HTMLElement) start(place);
  });
})();
