// A wheel is a zip: where in it the model's file lies, and its bytes, unpacked by the browser.

const LOCAL = 0x04034b50; // what the parts of a zip begin with
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const END_BYTES = 22;
const MOST_COMMENT = 65535; // bytes behind the end
const TOO_LARGE = 0xffffffff; // where zip64 keeps the number elsewhere
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;

/** @param {Uint8Array} bytes */
export const isZip = (bytes) => bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === LOCAL;

const viewOf = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const bytesFrom = async (blob, from, to) =>
  new Uint8Array(await blob.slice(from, to).arrayBuffer());

/**
 * The file in a zip whose name ends with `ending`.
 * @param {Blob} zip
 * @param {string} ending
 * @returns {Promise<{ name: string, size: number, stream: ReadableStream<Uint8Array> }>}
 */
export async function fileInZip(zip, ending) {
  const entries = await entriesOf(zip);
  const found = entries.filter(({ name }) => name.endsWith(ending));
  if (found.length !== 1)
    throw new Error(
      `The zip should hold one file whose name ends with ${ending}; it holds ` +
        `${found.length || "none"}.`,
    );
  const [{ name, flags, method, packed, size, at }] = found;
  if (flags & ENCRYPTED) throw new Error(`${name} is encrypted in the zip.`);
  if (method !== STORED && method !== DEFLATED)
    throw new Error(`${name} is packed in a way that this page doesn't read (method ${method}).`);
  const head = viewOf(await bytesFrom(zip, at, at + 30));
  if (head.byteLength < 30 || head.getUint32(0, true) !== LOCAL)
    throw new Error("The zip is broken: its list leads to something else than a file.");
  const from = at + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  if (from + packed > zip.size) throw new Error("The zip is cut off.");
  const stream = zip.slice(from, from + packed).stream();
  return { name, size, stream: method === STORED ? stream : inflated(stream) };
}

function inflated(stream) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser can't unpack a wheel. Unpack it yourself, and open the .gguf.");
  return stream.pipeThrough(new DecompressionStream("deflate-raw"));
}

/** What the list at the zip's end says of each file. */
async function entriesOf(zip) {
  const tail = await bytesFrom(zip, Math.max(0, zip.size - END_BYTES - MOST_COMMENT), zip.size);
  const view = viewOf(tail);
  let at = tail.length - END_BYTES;
  const isEnd = () =>
    view.getUint32(at, true) === END &&
    view.getUint16(at + 20, true) === tail.length - at - END_BYTES; // a comment's length
  while (at >= 0 && !isEnd()) at -= 1;
  if (at < 0) throw new Error("The zip is cut off: the list of its files is missing.");
  const [count, size, from] = [10, 12, 16].map((place) =>
    place === 10 ? view.getUint16(at + place, true) : view.getUint32(at + place, true),
  );
  if (from === TOO_LARGE)
    throw new Error("The zip has the form zip64, which this page can't read.");
  const list = await bytesFrom(zip, from, from + size);
  const entries = [];
  for (let place = 0; entries.length < count;) {
    const entry = entryAt(list, place);
    entries.push(entry);
    place = entry.next;
  }
  return entries;
}

function entryAt(list, at) {
  const view = viewOf(list);
  if (at + 46 > list.length || view.getUint32(at, true) !== CENTRAL)
    throw new Error("The zip is broken: the list of its files can't be read.");
  const half = (place) => view.getUint16(at + place, true);
  const [packed, size, from] = [20, 24, 42].map((place) => view.getUint32(at + place, true));
  if ([packed, size, from].includes(TOO_LARGE))
    throw new Error("The zip has the form zip64, which this page can't read.");
  const name = new TextDecoder().decode(list.subarray(at + 46, at + 46 + half(28)));
  const next = at + 46 + half(28) + half(30) + half(32);
  return { name, flags: half(8), method: half(10), packed, size, at: from, next };
}
