// JSON numbers that a double cannot represent: ids beyond 2^53, long fractions, very large and very small numbers.

/** A number as its JSON text. All code that traverses JSON values treats it as a leaf (`graph/json.ts`). */
export class ExactNumber {
  /**
   * Counts how often `JSON.stringify` has written an `ExactNumber`, which it can write only as a string. If the count
   * has grown, `writeJson` writes the whole value again by its own code.
   */
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

// A double preserves up to 15 significant digits with an exponent of up to two digits. A JSON number follows the start
// of the text, a bracket, a comma, a colon or white space.
const LOOKS_LONG = /\d(?:[\d.]{15}|[eE][+-]?\d{3})/;
const MAY_BE_UNKEPT = /(?:^|[\s:,[])-?(?:[\d.]{16}|\d[\d.]{0,15}[eE][+-]?\d{3})/;

/** A quick test: false for most texts, true if the text may contain a number that a double changes. */
export function mayHoldInexactNumber(json: string): boolean {
  return LOOKS_LONG.test(json) && MAY_BE_UNKEPT.test(json);
}

/** The largest double has 309 digits. A number whose text is longer than this limit counts as not preserved. */
const MAX_DIGITS = 400;

/** Returns true if JavaScript reads `text` (a JSON number) and writes it with the same value, in any spelling. */
export function isExactAsDouble(text: string): boolean {
  const value = Number(text);
  if (String(value) === text) return Number.isFinite(value);
  // JavaScript writes integers of this size with all digits, so it would write another number than `text`.
  if (Math.abs(value) < 1e21 && /^-?[1-9]\d*$/.test(text)) return false;
  if (!Number.isFinite(value) || text.length > MAX_DIGITS) return false;
  const [given, own] = [normalize(text), normalize(String(value))];
  return given.digits === own.digits && (given.digits === '' || given.exponent === own.exponent);
}

/** A quick test: false for most texts, true where `isNearDouble` may be false for a number. */
export function mayHoldFarNumber(json: string): boolean {
  return /\d{16}|\d[eE]/.test(json);
}

/**
 * Returns true if `JSON.parse` at most rounds the number. Returns false for a number beyond the range of a double, for
 * one so small that it becomes zero, and for an integer that no double represents, because it may be an id. `digits` is
 * JSON text without a sign.
 */
export function isNearDouble(digits: string): boolean {
  const value = Number(digits);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/[1-9]/.test(digits.split(/e/i)[0] ?? '');
  if (Number.isSafeInteger(value) || !/^\d+$/.test(digits)) return true;
  // An integer in the spelling of JavaScript stays the same when it is read and written again. A finite integer has at
  // most 309 digits, so `BigInt` is fast.
  return String(value) === digits || BigInt(digits) === BigInt(value);
}

/**
 * Returns the digits without zeros at either end, and the power of ten of the last digit. The sign is ignored, because
 * a double always preserves it.
 */
function normalize(text: string): { digits: string; exponent: bigint } {
  const [mantissa = '', power = '0'] = text.replace(/^-/, '').toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const all = integer + fraction;
  const significant = all.replace(/0+$/, '');
  const zeros = all.length - significant.length;
  return { digits: significant.replace(/^0+/, ''), exponent: BigInt(power) + BigInt(zeros - fraction.length) };
}
