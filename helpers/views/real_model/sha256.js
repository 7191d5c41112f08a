// SHA-256: the browser's, or piece by piece (FIPS 180-4, section 6.2) where it offers none, as to a
// page whose connection isn't encrypted.

/** The first 32 bits behind the point of the roots of the first primes. */
function rootBits(count, root) {
  const primes = [];
  for (let n = 2; primes.length < count; n += 1)
    if (primes.every((prime) => n % prime)) primes.push(n);
  return Int32Array.from(primes, (prime) => ((root(prime) % 1) * 2 ** 32) | 0);
}

const CONSTANTS = rootBits(64, Math.cbrt);
const FIRST_STATE = rootBits(8, Math.sqrt);
const BLOCK_BYTES = 64;
const HASHED_AT_ONCE = 1 << 22; // bytes, between two reports

/**
 * The SHA-256 of bytes, in hexadecimal.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {(done: number) => void} tell hears how many are done
 * @param {SubtleCrypto | undefined} subtle what the browser offers
 */
export async function sha256(bytes, tell, subtle = globalThis.crypto?.subtle) {
  if (subtle) {
    const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
    tell(bytes.length);
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  const hash = new Sha256();
  for (let at = 0; at < bytes.length; at += HASHED_AT_ONCE) {
    hash.update(bytes.subarray(at, at + HASHED_AT_ONCE));
    tell(Math.min(bytes.length, at + HASHED_AT_ONCE));
  }
  return hash.digest();
}

class Sha256 {
  constructor() {
    this.state = Int32Array.from(FIRST_STATE);
    this.words = new Int32Array(64);
    this.rest = new Uint8Array(BLOCK_BYTES); // of the block that isn't full yet
    this.length = 0;
  }

  /** @param {Uint8Array} bytes */
  update(bytes) {
    const had = this.length % BLOCK_BYTES;
    this.length += bytes.length;
    let from = 0;
    if (had) {
      from = Math.min(bytes.length, BLOCK_BYTES - had);
      this.rest.set(bytes.subarray(0, from), had);
      if (had + from < BLOCK_BYTES) return;
      this.#blocks(this.rest, 0, BLOCK_BYTES);
    }
    const end = bytes.length - ((bytes.length - from) % BLOCK_BYTES);
    this.#blocks(bytes, from, end);
    this.rest.set(bytes.subarray(end));
  }

  /** In hexadecimal; nothing can be added behind it. */
  digest() {
    const bits = this.length * 8;
    const had = this.length % BLOCK_BYTES;
    const padding = new Uint8Array((had < 56 ? 64 : 128) - had);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #blocks(bytes, from, end) {
    const { state, words } = this;
    for (let at = from; at < end; at += BLOCK_BYTES) {
      for (let i = 0, b = at; i < 16; i += 1, b += 4)
        words[i] = (bytes[b] << 24) | (bytes[b + 1] << 16) | (bytes[b + 2] << 8) | bytes[b + 3];
      for (let i = 16; i < 64; i += 1) {
        const [one, other] = [words[i - 15], words[i - 2]];
        const first = turned(one, 7) ^ turned(one, 18) ^ (one >>> 3);
        const second = turned(other, 17) ^ turned(other, 19) ^ (other >>> 10);
        words[i] = (words[i - 16] + first + words[i - 7] + second) | 0;
      }
      let [a, b, c, d] = [state[0], state[1], state[2], state[3]];
      let [e, f, g, h] = [state[4], state[5], state[6], state[7]];
      for (let i = 0; i < 64; i += 1) {
        const ofE = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
        const chosen = (e & f) ^ (~e & g);
        const one = (h + ofE + chosen + CONSTANTS[i] + words[i]) | 0;
        const ofA = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
        const majority = (a & b) ^ (a & c) ^ (b & c);
        h = g;
        g = f;
        f = e;
        e = (d + one) | 0;
        d = c;
        c = b;
        b = a;
        a = (one + ofA + majority) | 0;
      }
      state[0] += a;
      state[1] += b;
      state[2] += c;
      state[3] += d;
      state[4] += e;
      state[5] += f;
      state[6] += g;
      state[7] += h;
    }
  }
}

const turned = (word, by) => (word >>> by) | (word << (32 - by));
