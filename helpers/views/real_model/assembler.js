// As much of WebAssembly's binary format as the products need: expressions are nested lists of
// bytes, operands first. The numbers are those of the core specification, chapter 5.

/** A whole number from 0 on, 7 bits a byte (LEB128). */
export function unsigned(number) {
  const bytes = [];
  for (; number > 127; number = Math.floor(number / 128)) bytes.push((number & 127) | 128);
  return [...bytes, number];
}

/** A whole number with a sign. */
function signed(number) {
  const bytes = [];
  for (; number < -64 || number > 63; number >>= 7) bytes.push((number & 127) | 128);
  return [...bytes, number & 127];
}

const float = (number) => [...new Uint8Array(new Float32Array([number]).buffer)];
const simd = (code) => [0xfd, ...unsigned(code)];
/** An instruction of one or two operands. */
const taking =
  (code) =>
  (...operands) => [operands, code];
/** One that reads or writes at an address, and a number of bytes behind it. */
const at =
  (code, alignment = 0) =>
  (address, behind, ...value) => [address, value, code, alignment, unsigned(behind)];

export const TYPES = { i32: 0x7f, v128: 0x7b };
export const get = (local) => [0x20, ...unsigned(local)];
export const set = (local, value) => [value, 0x21, ...unsigned(local)];
export const i32 = {
  constant: (number) => [0x41, ...signed(number)],
  load16: at(0x2f),
  add: taking(0x6a),
  subtract: taking(0x6b),
  multiply: taking(0x6c),
  and: taking(0x71),
  or: taking(0x72),
  shiftLeft: taking(0x74),
};
export const f32 = {
  constant: (number) => [0x43, ...float(number)],
  store: at(0x38),
  add: taking(0x92),
  multiply: taking(0x94),
  fromBits: taking(0xbe),
};
export const v128 = {
  load: at(simd(0x00)),
  /** Eight bytes as whole numbers of 16 bits, with a sign. */
  load8Signed: at(simd(0x01)),
  splatByte: taking(simd(0x0f)),
  splatFloat: taking(simd(0x13)),
  lane: (vector, number) => [vector, simd(0x1f), number],
  and: taking(simd(0x4e)),
  shiftBytesRight: taking(simd(0x6d)),
  /** The lower or upper half of the whole numbers in twice as many bits. */
  widenBytes: [taking(simd(0x89)), taking(simd(0x8a))],
  widenSigned: [taking(simd(0xa7)), taking(simd(0xa8))],
  add: taking(simd(0xe4)),
  multiply: taking(simd(0xe6)),
  toFloat: taking(simd(0xfa)),
};

/** Do it again as often as `counter` says, at least once. */
export const repeat = (counter, ...body) => [
  [0x03, 0x40, body], // a loop without a result
  set(counter, i32.subtract(get(counter), i32.constant(1))),
  [get(counter), 0x0d, 0, 0x0b], // to its start unless the counter is 0; end
];

const sized = (content) => {
  const bytes = content.flat(Infinity);
  return [...unsigned(bytes.length), ...bytes];
};
const list = (entries) => [...unsigned(entries.length), ...entries];
const section = (number, entries) => [number, ...sized(list(entries))];
const name = (text) => sized([...new TextEncoder().encode(text)]);

/**
 * A module whose functions take whole numbers, give nothing back, and share one memory that it
 * imports as `env.memory`.
 * @param {{ name: string, parameters: number, locals: number[], body: any[] }[]} functions `locals`
 *   are their types.
 */
export function assembled(functions) {
  const type = ({ parameters }) => [0x60, list(Array(parameters).fill(TYPES.i32)), 0];
  const code = ({ locals, body }) => sized([list(locals.map((one) => [1, one])), body, 0x0b]);
  const imported = [name("env"), name("memory"), 0x02, 0x00, 0x01];
  const exported = (one, index) => [name(one.name), 0x00, unsigned(index)];
  const bytes = [
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    section(1, functions.map(type)),
    section(2, [imported]),
    section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    section(7, functions.map(exported)),
    section(10, functions.map(code)),
  ];
  return Uint8Array.from(bytes.flat(Infinity));
}
