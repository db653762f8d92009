// Scans JSON text once, before the parser allocates memory: its depth, its number of values, and its numbers.
import { endOfString, MAX_JSON_VALUES } from '../../graph/json-text.js';
import { parseError } from './errors.js';

/** Every real drawing is less deep, and deeper JSON would overflow the stack of every recursive reader. */
const MAX_JSON_DEPTH = 200;
/**
 * Throws the 400 for text that is too deep or holds too many values. Text that does not begin like JSON is accepted.
 */
export function refuseHugeJson(text: string): void {
  if (!/^\s*[[{]/.test(text)) return;
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        values += 1;
        if (depth > MAX_JSON_DEPTH) throw parseError(`nested deeper than ${MAX_JSON_DEPTH} levels.`);
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
    }
    if (values > MAX_JSON_VALUES) throw parseError(`the body holds more than ${MAX_JSON_VALUES} values.`);
  }
}

/**
 * Throws the 400 for a number that would change when it is read: beyond the range of a double, so small that it becomes
 * zero, or an integer that no double represents, as numeric ids may be. Fractions become the nearest double, as usual
 * in JSON. `text` is valid JSON.
 */
export function refuseUnkeptNumbers(text: string): void {
  // Most bodies hold no text that looks like such a number. Matches inside strings are excluded below.
  if (!/\d{16}|\d[eE]/.test(text)) return;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (isDigit(unit)) {
      const end = endOfNumber(text, at);
      if (!isKept(text.slice(at, end))) {
        throw parseError(`the number at position ${at} cannot be kept exactly; send it as a string.`);
      }
      at = end - 1;
    }
  }
}

function isKept(digits: string): boolean {
  const value = Number(digits);
  if (!Number.isFinite(value)) return false;
  if (value === 0) return !/[1-9]/.test(digits.split(/e/i)[0] ?? '');
  if (Number.isSafeInteger(value) || !/^\d+$/.test(digits)) return true;
  // JavaScript's own spelling of a large number is unchanged by reading. A finite integer has at most 309 digits.
  return String(value) === digits || BigInt(digits) === BigInt(value);
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (let unit = text.charCodeAt(end); isDigit(unit) || NUMBER_UNITS.has(unit); unit = text.charCodeAt(end)) end += 1;
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const NUMBER_UNITS = new Set(Array.from('.eE+-', (sign) => sign.charCodeAt(0)));
