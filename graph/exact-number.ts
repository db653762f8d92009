// Numbers of JSON that JavaScript's own numbers would change: ids beyond 2^53, long fractions, very large and very small ones.

/** A number as JSON writes it. Everything that walks JSON values takes it for a leaf (`graph/json.ts`). */
export class ExactNumber {
  /** How many have been written by `JSON.stringify`, which can only write them as strings: `writeJson` looks at it. */
  static written = 0;

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  toJSON(): string {
    ExactNumber.written += 1;
    return this.#text;
  }
}

// Up to 15 significant digits and an exponent of two digits always come back as they were. A number of JSON stands at the
// beginning, behind a bracket, a comma, a colon or white space.
const LOOKS_LONG = /\d(?:[\d.]{15}|[eE][+-]?\d{3})/;
const MAY_BE_UNKEPT = /(?:^|[\s:,[])-?(?:[\d.]{16}|\d[\d.]{0,15}[eE][+-]?\d{3})/;

/** False for most texts at the cost of one search; true where it takes a closer look. */
export function mayHoldUnkeptNumber(json: string): boolean {
  return LOOKS_LONG.test(json) && MAY_BE_UNKEPT.test(json);
}

/** The longest double in digits has 309 of them: what is longer than this is not looked at and counts as unkept. */
const MAX_DIGITS = 400;

/** Whether JavaScript's own number is the one that `text` (a number of JSON) writes, however either is spelled. */
export function isKeptByDouble(text: string): boolean {
  const value = Number(text);
  if (String(value) === text) return Number.isFinite(value);
  // JavaScript writes these in full, so another text is another number.
  if (Math.abs(value) < 1e21 && /^-?[1-9]\d*$/.test(text)) return false;
  if (!Number.isFinite(value) || text.length > MAX_DIGITS) return false;
  const [given, own] = [normalize(text), normalize(String(value))];
  return given.digits === own.digits && (given.digits === '' || given.exponent === own.exponent);
}

/** The digits without zeros at either end, and the power of ten of the last one. The sign is never lost. */
function normalize(text: string): { digits: string; exponent: bigint } {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const all = integer + fraction;
  const significant = all.replace(/0+$/, '');
  const zeros = all.length - significant.length;
  return { digits: significant.replace(/^0+/, ''), exponent: BigInt(power) + BigInt(zeros - fraction.length) };
}
