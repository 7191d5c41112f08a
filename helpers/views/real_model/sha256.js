// SHA-256, piece by piece: FIPS 180-4, section 6.2. The browser's own would copy a whole model
// first, and pages whose connection isn't encrypted have none.

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
 * @param {Uint8Array} bytes
 * @param {(done: number) => void} tell hears how many are done
 */
export function sha256(bytes, tell) {
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

  /** Rotations are written out: calls of a function take twice as long here. */
  #blocks(bytes, from, end) {
    const { state, words } = this;
    for (let at = from; at < end; at += BLOCK_BYTES) {
      for (let i = 0, b = at; i < 16; i += 1, b += 4)
        words[i] = (bytes[b] << 24) | (bytes[b + 1] << 16) | (bytes[b + 2] << 8) | bytes[b + 3];
      for (let i = 16; i < 64; i += 1) {
        const x = words[i - 15];
        const y = words[i - 2];
        const one = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const other = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        words[i] = (words[i - 16] + one + words[i - 7] + other) | 0;
      }
      let [a, b, c, d] = [state[0], state[1], state[2], state[3]];
      let [e, f, g, h] = [state[4], state[5], state[6], state[7]];
      for (let i = 0; i < 64; i += 1) {
        const ofE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
        const chosen = (e & f) ^ (~e & g);
        const one = (h + ofE + chosen + CONSTANTS[i] + words[i]) | 0;
        const ofA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
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
