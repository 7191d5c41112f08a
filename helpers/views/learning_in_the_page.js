import { button, field, menu, slider } from "./shared/controls.js";
import { heatMap } from "./shared/heat_map.js";
import { lossChart } from "./shared/loss_chart.js";
import { COLOURS, h, mixed, scroll } from "./shared/page.js";
import { named } from "./shared/reader.js";
import { fixed, visible } from "./shared/words.js";
import WORKER_CODE from "./trainer/worker.js?text";

const LEARNING_STYLE = `
.aos-view .sample {
  font-family: ui-monospace, monospace; white-space: pre-wrap; margin: 0.35rem 0; min-height: 3em;
}
.aos-view textarea.own { width: 34rem; max-width: 100%; min-height: 3.5rem; }
.aos-view input[type=file], .aos-view select { max-width: 100%; }
.aos-view .wrong { font-weight: 600; }
.aos-view .wrong:empty { display: none; }
.aos-view .dropping { outline: 3px dashed var(--queries); }
`;
const FACTORS = [0.25, 0.5, 1, 2, 4]; // of a recipe's learning rates
const FILE_NAME = "model.safetensors";
const CALM = 100; // steps between two pictures for a reader who wants little motion

/** A transformer that learns in the page: its loss, its answers, where it looks, what it writes. */
export function render({ state, el }) {
  const chosen = {
    ...{ recipe: state.recipes[0][0], factor: 1, seed: 1, text: "" },
    ...{ steps: 0, width: 0, heads: 0, layers: 0 },
    ...state.sizes,
  };
  /** @type {Uint8Array | undefined} */
  let file;
  const status = h("p", { class: "note", "aria-live": "polite", "data-value": "status" });
  const wrong = h("p", { class: "note wrong", role: "alert", "data-value": "wrong" });
  const shown = h("div");
  /** @type {ReturnType<typeof findings> | null} */
  let seen = null; // what is shown of the model in training
  /** @type {Worker | null} */
  let worker = null;
  let running = false;
  let paused = false; // because nobody sees the page
  let begun = false; // there is a model, or soon
  let ended = false; // and it has taken all its steps
  let training = 0; // its number, so that what is said of an earlier one isn't heard

  const recipe = () => state.recipes.find(([name]) => name === chosen.recipe)[1];
  const settings = () => {
    const { learningRate, muonLearningRate, ...rest } = recipe().training;
    return {
      model: { ...recipe().model, ...sizesOf(chosen), contextLength: state.contextLength },
      recipe: {
        ...rest,
        steps: chosen.steps,
        warmupSteps: Math.ceil(rest.warmup * chosen.steps),
        learningRate: chosen.factor * learningRate,
        muonLearningRate: chosen.factor * muonLearningRate,
      },
      batchSize: state.batchSize,
      seed: chosen.seed,
      alphabet: state.alphabet,
      words: state.words,
      longestStory: state.longestStory,
      text: chosen.text || undefined,
      file,
    };
  };

  const ask = (kind, more = {}) => worker?.postMessage({ kind, ...more });
  const say = (words) => {
    status.textContent = words;
  };
  const setRunning = (on) => {
    running = on;
    controls.run.textContent = on ? "Pause" : "Train";
    controls.run.setAttribute("aria-pressed", String(on));
  };
  const fail = (message) => {
    if (!seen) [begun, file] = [false, undefined]; // it couldn't even begin
    wrong.textContent = message;
    setRunning(false);
    say("Nothing is being trained.");
  };
  /** Forget the model; what is chosen now counts for the next one. */
  const forget = () => {
    ask("pause");
    setRunning(false);
    wrong.textContent = "";
    [seen, begun, ended, paused] = [null, false, false, false];
    training += 1;
    shown.replaceChildren(lossChart(chartOptions(state.alphabet, chosen.text === "")).element);
    say(`Ready: ${description(chosen, file)}.`);
  };
  const chartOptions = (alphabet, withLevels) => {
    const most = Math.ceil(2 * Math.log(alphabet.length)) / 2;
    const levels = withLevels ? state.levels.filter(([, loss]) => loss < most) : [];
    return { steps: chosen.steps, most, levels };
  };
  const begin = () => {
    forget();
    if (!worker) {
      try {
        worker = startWorker();
      } catch {
        fail("This browser doesn't let the page start a worker, so nothing can be trained here.");
        return false;
      }
      worker.onmessage = ({ data }) => {
        if (data.training === training) HEARD[data.kind](data);
      };
      worker.onerror = (event) => fail(`The trainer has stopped: ${event.message}`);
    }
    begun = true;
    ask("begin", { settings: settings(), training });
    say(`The first weights are there: ${description(chosen, file)}.`);
    return true;
  };
  const HEARD = {
    ready: (data) => {
      const chart = lossChart(chartOptions(data.alphabet, data.least !== null));
      seen = findings(data, chosen.steps, chart, (where) => ask("look", { where }));
      shown.replaceChildren(seen.element);
    },
    step: (data) => seen?.step(data, running),
    findings: (data) => {
      const sentence = seen?.examined(data);
      if (sentence) say(sentence);
    },
    sample: (data) => seen?.sample(data, running),
    look: (data) => seen?.look(data, running),
    file: ({ bytes }) => download(bytes, FILE_NAME),
    ended: () => {
      ended = true;
      setRunning(false);
      say(`All ${chosen.steps} steps are done. ${seen?.summary() ?? ""}`);
    },
    failed: ({ message }) => fail(message),
  };
  const isOver = () => {
    if (ended) say("All steps are done. Save the model, or start anew.");
    return ended;
  };
  const run = () => {
    if (running) {
      setRunning(false);
      ask("pause");
      say("Paused.");
      return;
    }
    if (isOver() || (!begun && !begin())) return;
    setRunning(true);
    say(`In training: ${description(chosen, file)}.`);
    ask("run");
  };
  const step = () => {
    setRunning(false);
    if (isOver() || (!begun && !begin())) return;
    ask("step");
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && running) {
      paused = true;
      setRunning(false);
      ask("pause");
      say("Paused while you look at another page.");
    } else if (!document.hidden && paused) {
      paused = false;
      run();
    }
  });

  const open = async (chosenFile) => {
    if (!chosenFile) return;
    file = new Uint8Array(await chosenFile.arrayBuffer());
    begin();
  };
  const controls = mainControls({
    run,
    step,
    anew: () => {
      file = undefined;
      begin();
    },
    save: () => {
      if (!begun) {
        wrong.textContent = "There is no model yet: train one first.";
        return;
      }
      say(`The model is saved as ${FILE_NAME}.`);
      ask("save");
    },
    open,
  });
  const choices = settingsControls(state, chosen, () => {
    file = undefined;
    forget();
  });
  el.append(h("style", {}, LEARNING_STYLE), controls.element, choices, status, wrong, shown);
  dropsFiles(el, open);
  forget();
}

const sizesOf = ({ width, heads, layers }) => ({ width, heads, layers });

function description(chosen, file) {
  const model = file
    ? "the model of the file"
    : `a model of width ${chosen.width} with ${chosen.heads} heads and ${chosen.layers} blocks`;
  const rate = chosen.factor === 1 ? "" : ` at ${chosen.factor} times its learning rate`;
  const text = chosen.text
    ? `your ${chosen.text.length.toLocaleString("en")} characters`
    : "little-world";
  return (
    `${model}, ${chosen.steps} steps on ${text} by the recipe “${chosen.recipe}”${rate}, ` +
    `from seed ${chosen.seed}`
  );
}

/** Start the worker from its text, which needs no address. */
function startWorker() {
  const url = URL.createObjectURL(new Blob([WORKER_CODE], { type: "text/javascript" }));
  try {
    return new Worker(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

// --- controls --------------------------------------------------------------------------------

function mainControls({ run, step, anew, save, open }) {
  const runs = button({ name: "run", label: "Train", press: run, "aria-pressed": "false" });
  const input = h("input", {
    type: "file",
    accept: ".safetensors",
    "data-control": "open",
    onchange: () => {
      open(input.files?.[0]);
      input.value = "";
    },
  });
  const element = h(
    "div",
    { class: "controls" },
    runs,
    button({ name: "step", label: "One step", press: step }),
    button({ name: "anew", label: "Start anew", press: anew }),
    button({ name: "save", label: "Save the model", press: save }),
    h("label", {}, "Open a model ", input),
  );
  return { element, run: runs };
}

/** What is trained on what, and how; after a change the model is another one. */
function settingsControls(state, chosen, changed) {
  const set = (name, read) => (value) => {
    chosen[name] = read ? read(value) : value;
    changed();
  };
  const list = (name, label, numbers) =>
    menu({
      name,
      label,
      options: numbers.map(String),
      value: String(chosen[name]),
      change: set(name, Number),
    });
  const own = h("textarea", {
    class: "own",
    "data-control": "own text",
    placeholder: "Empty: little-world's stories. Or paste a text of yours; it stays in this page.",
    oninput: () => set("text")(own.value),
  });
  return h(
    "div",
    { class: "controls" },
    menu({
      name: "recipe",
      label: "Recipe",
      options: state.recipes.map(([name]) => name),
      value: chosen.recipe,
      change: set("recipe"),
    }),
    slider({
      name: "rate",
      label: "Learning rate",
      choices: FACTORS,
      value: 1,
      text: (factor) => `${factor} × the recipe's`,
      change: set("factor"),
    }),
    list("steps", "Steps", state.choices.steps),
    list("width", "Width", state.choices.width),
    list("heads", "Heads", state.choices.heads),
    list("layers", "Blocks", state.choices.layers),
    h(
      "label",
      {},
      "Seed ",
      field({ name: "seed", label: "Seed", value: 1, step: 1, change: set("seed", whole) }),
    ),
    h("label", {}, "Text ", own),
  );
}

const whole = (number) => Math.max(0, Math.floor(number)) % 4294967295;

/** A file that is dropped onto the view is opened. */
function dropsFiles(el, open) {
  const over = (on) => (event) => {
    if (![...(event.dataTransfer?.types ?? [])].includes("Files")) return;
    event.preventDefault();
    el.classList.toggle("dropping", on);
  };
  el.addEventListener("dragover", over(true));
  el.addEventListener("dragleave", over(false));
  el.addEventListener("drop", (event) => {
    over(false)(event);
    open(event.dataTransfer?.files[0]);
  });
}

function download(bytes, name) {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

// --- what is found ---------------------------------------------------------------------------

/** What is shown of one training; `look` asks for another place of the model. */
function findings({ config, parameters, least, texts }, steps, chart, look) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const numbers = h("div", { "data-value": "numbers" });
  const answers = h("div");
  const sample = h("p", { class: "sample", "data-value": "sample" });
  const map = heatMap({ caption: "Where each character looks" });
  const losses = [];
  /** @type {[number, number][]} */
  const heldOut = [];
  let last = { step: 0, characters: 0, milliseconds: 0 };
  const heldOutNow = () => heldOut[heldOut.length - 1][1];

  const where = { place: 0, layer: config.layers - 1, head: 0 };
  const list = (name, label, options, read) =>
    menu({
      name,
      label,
      options,
      value: options[where[read]],
      change: (option) => {
        where[read] = options.indexOf(option);
        look({ ...where });
      },
    });
  const count = (number) => Array.from({ length: number }, (_, i) => String(i + 1));
  const began = texts.slice(0, 20).map((text, i) => `${i + 1}: ${visible(text.slice(0, 30))}…`);
  const above = (loss) => 100 * (loss / least - 1);
  const showNumbers = () => {
    const left = ((steps - last.step) * last.milliseconds) / Math.max(1, last.step) / 1000;
    const rows = [
      ["step", `${last.step} of ${steps}`, "step"],
      [
        "last examined after",
        heldOut.length ? String(heldOut[heldOut.length - 1][0]) : "",
        "found after",
      ],
      ["held-out loss", heldOut.length ? fixed(heldOutNow(), 3) : "", "held out"],
      ...(least === null || !heldOut.length
        ? []
        : [["above the floor", `${fixed(above(heldOutNow()), 1)}%`, "above"]]),
      [
        "characters a second",
        last.milliseconds
          ? Math.round((1000 * last.characters) / last.milliseconds).toLocaleString("en")
          : "",
        "speed",
      ],
      ["time left", last.step ? duration(left) : "", "left"],
    ];
    numbers.replaceChildren(
      h(
        "table",
        {},
        h("caption", {}, `${parameters.toLocaleString("en")} parameters`),
        h(
          "tbody",
          {},
          rows.map(([name, number, value]) =>
            h("tr", {}, h("th", { scope: "row" }, name), h("td", { "data-value": value }, number)),
          ),
        ),
      ),
    );
  };
  map.mark(null);
  const isDue = (running) => !calm || !running || last.step % CALM === 0;
  showNumbers();

  const element = h(
    "div",
    {},
    h("div", { class: "panels" }, chart.element, numbers, answers),
    h("p", { class: "note" }, "What the model writes now:"),
    sample,
    h(
      "div",
      { class: "controls" },
      list("place", "Held-out text", began, "place"),
      list("layer", "Layer", count(config.layers), "layer"),
      list("head", "Head", count(config.heads), "head"),
    ),
    map.element,
  );
  return {
    element,
    step(data, running) {
      losses.push(data.loss);
      last = data;
      if (isDue(running)) chart.showBatches(losses);
      showNumbers();
    },
    examined({ step, loss, answers: found }) {
      heldOut.push([step, loss]);
      chart.showHeldOut(heldOut);
      showNumbers();
      answers.replaceChildren(answersTable(found));
      const words = `After ${step} steps the held-out loss is ${fixed(loss, 3)}`;
      if (step === 0 || step % CALM) return "";
      return least === null ? `${words}.` : `${words}, ${fixed(above(loss), 1)}% above the floor.`;
    },
    summary: () =>
      least === null
        ? `The held-out loss is ${fixed(heldOutNow(), 3)}.`
        : `The held-out loss is ${fixed(above(heldOutNow()), 1)}% above the floor.`,
    sample({ text }, running) {
      if (isDue(running)) sample.textContent = text;
    },
    look({ characters, weights }, running) {
      if (!isDue(running)) return;
      const names = characters.map((one, i) => `${i}: ${named(one)}`);
      map.update(weights, names, names, (i, j) => j > i);
    },
  };
}

/** Shares of right answers, by the kind of question. */
function answersTable(found) {
  const rows = Object.entries(found).sort(([one], [other]) => one.localeCompare(other));
  if (!rows.length) return "";
  return scroll(
    "Right answers",
    h(
      "table",
      {},
      h("caption", {}, "Right answers"),
      h(
        "tbody",
        {},
        rows.map(([kind, [right, all]]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, kind),
            h(
              "td",
              {
                "data-value": `right ${kind}`,
                style: `background: ${mixed(COLOURS.values, (60 * right) / all)}`,
              },
              `${right} of ${all}`,
            ),
          ),
        ),
      ),
    ),
  );
}

function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  return minutes ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.round(seconds)} s`;
}
