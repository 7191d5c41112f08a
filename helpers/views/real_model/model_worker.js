// The worker behind a real model in the page: it opens the model's file, reads texts, writes on,
// and says what it found. One thing is done at a time; a newer request ends the one before.
import { openModel } from "./model_file.js";
/** @import { Session } from "./session.js" */

/** @type {Session | null} */
let session = null;
let newest = 0; // how many requests have come that end the one before
let stopped = 0; // the last one of them that was told to stop
let work = Promise.resolve();

const channel = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** Let waiting messages be heard. */
const pause = () =>
  new Promise((resume) => {
    waiting.push(() => resume(undefined));
    channel.port2.postMessage(null);
  });

function opened() {
  if (!session) throw new Error("No model has been opened yet.");
  return session;
}

/**
 * Read what isn't read yet; false if a newer request ends it, or if it was stopped, after which the
 * text is the one before.
 */
async function caughtUp(current, request, say) {
  for (const done of current.catchUp()) {
    say("tokens", { done, total: current.ids.length });
    await pause();
    if (request !== newest) return false;
    if (request > stopped) continue;
    current.undo();
    say("ended", { why: "stopped" });
    return false;
  }
  return true;
}

function tellReading(current, begun, say) {
  current.keep();
  const reading = { ...current.reading(), milliseconds: performance.now() - begun };
  say("reading", { reading }, [reading.weights.buffer]);
}

/** Behind what comes without some parts, what comes with everything on, if it is still wanted. */
async function tellWhole(current, request, say) {
  if (current.off.size === 0) return;
  for (const _ of current.catchUpWhole()) {
    await pause();
    if (request !== newest) return;
  }
  say("whole", { next: current.nextOfWhole() });
}

/** A change of what is to be read, which is then read and told. */
const readAfter = (change) => async (data, request, say) => {
  const [begun, current] = [performance.now(), opened()];
  change(current, data);
  if (!(await caughtUp(current, request, say))) return;
  tellReading(current, begun, say);
  await tellWhole(current, request, say);
};

const REQUESTED = {
  open: async ({ file, expected }, request, say) => {
    const found = await openModel(file, expected, (stage, done, total) =>
      say("progress", { stage, done, total }),
    );
    session = found.session;
    say("opened", { model: found.model });
  },
  read: readAfter((current, { text, chat, off }) => current.begin(text, chat, off)),
  switch: readAfter((current, { off }) => current.switch(off)),
  back: readAfter((current) => current.back()),
  write: async ({ most, temperature, topP, seed }, request, say) => {
    const [begun, current] = [performance.now(), opened()];
    const draw = current.writer({ temperature, topP, seed });
    if (!(await caughtUp(current, request, say))) return;
    const first = current.ids.length;
    const reason = async () => {
      for (let count = 0; count < most; count += 1) {
        if (current.isFull) return "full";
        const started = performance.now();
        const id = draw();
        if (current.tokenizer.special.has(id)) return "end";
        current.add(id);
        await caughtUp(current, request, say);
        say("token", {
          id,
          token: current.tokenizer.pieces([id])[0],
          text: current.written(first),
          next: current.next(),
          milliseconds: performance.now() - started,
        });
        await pause();
        if (request <= stopped || request !== newest) return "stopped";
      }
      return "most";
    };
    const why = await reason();
    tellReading(current, begun, say);
    say("ended", { why });
    await tellWhole(current, request, say);
  },
};

/** What goes wrong is told to the page. */
async function done(data, request) {
  const say = (kind, more, moved = []) =>
    postMessage({ kind, number: data.number, ...more }, { transfer: moved });
  if (request !== newest) return; // nobody waits for it any more
  try {
    await REQUESTED[data.kind](data, request, say);
  } catch (error) {
    say("failed", { message: inWords(error) });
  }
}

function inWords(error) {
  if (error instanceof RangeError)
    return "This device lacks the memory for that. Close other pages, or take a shorter text.";
  return error instanceof Error ? error.message : String(error);
}

onmessage = ({ data }) => {
  if (data.kind === "stop") {
    stopped = newest;
    return;
  }
  newest += 1;
  const request = newest;
  work = work.then(() => done(data, request));
};
