// A model's file that the site carries: fetched on request, and kept by the browser.

const KEPT = "attention-one-step";

/**
 * The file, from what the browser has kept or from the site; `told` hears how many bytes are here.
 * @param {string} url
 * @param {(done: number) => void} told
 * @returns {Promise<{ file: Blob, kept: boolean }>} and whether the browser keeps it from now on
 */
export async function fetchedFile(url, told) {
  const store = await openStore();
  const before = await store?.match(url);
  if (before) return { file: await before.blob(), kept: true };
  const file = await download(url, told);
  try {
    await store?.put(url, new Response(file));
  } catch {
    return { file, kept: false }; // there is no room, or it is forbidden
  }
  return { file, kept: store !== null };
}

/** What was kept is no longer wanted, because it isn't the model. */
export async function dropKept(url) {
  const store = await openStore();
  await store?.delete(url);
}

/** Where files are kept; null where the browser has no such place for this page. */
async function openStore() {
  try {
    return await caches.open(KEPT);
  } catch {
    return null;
  }
}

async function download(url, told) {
  let answer;
  try {
    answer = await fetch(url);
  } catch {
    throw new Error("The model's file couldn't be fetched from this site.");
  }
  if (!answer.ok || !answer.body)
    throw new Error(`The model's file isn't on this site: it answers ${answer.status}.`);
  const pieces = [];
  let done = 0;
  try {
    const reader = answer.body.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(next.value);
      done += next.value.length;
      told(done);
    }
  } catch {
    throw new Error("The connection broke off while the model's file was fetched: try again.");
  }
  return new Blob(pieces);
}
