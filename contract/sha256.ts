// SHA-256 (FIPS 180-4) for the run workflow, which has no hash of Node.js: the names of activities depend on it, and people
// must not be able to choose two texts that have the same one.

const PRIMES = firstPrimes(64);
const ROUND_CONSTANTS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

/** Returns the hash in hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  const state = Uint32Array.from(START);
  const blocks = padded(bytes);
  const schedule = new Uint32Array(64);
  for (let at = 0; at < blocks.byteLength; at += 64) {
    for (let index = 0; index < 16; index++) schedule[index] = blocks.getUint32(at + 4 * index);
    addBlock(state, schedule);
  }
  return [...state].map((word) => word.toString(16).padStart(8, '0')).join('');
}

/** With a bit 1, as many zeros as fill the last block, and the length in bits. */
function padded(bytes: Uint8Array): DataView {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 4, bytes.length * 8);
  return view;
}

function addBlock(state: Uint32Array, schedule: Uint32Array): void {
  for (let index = 16; index < 64; index++) {
    const [before15, before2] = [schedule[index - 15]!, schedule[index - 2]!];
    const first = rotate(before15, 7) ^ rotate(before15, 18) ^ (before15 >>> 3);
    const second = rotate(before2, 17) ^ rotate(before2, 19) ^ (before2 >>> 10);
    schedule[index] = schedule[index - 16]! + first + schedule[index - 7]! + second;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let index = 0; index < 64; index++) {
    const ofE = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const chosen = (e & f) ^ (~e & g);
    const first = (h + ofE + chosen + ROUND_CONSTANTS[index]! + schedule[index]!) >>> 0;
    const ofA = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) >>> 0, c, b, a, (first + ofA + majority) >>> 0];
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) state[index] = state[index]! + word;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits after the point. */
function fraction(value: number): number {
  return Math.floor((value - Math.floor(value)) * 2 ** 32) >>> 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let number = 2; primes.length < count; number++) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return primes;
}
