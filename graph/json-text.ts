// Reads and writes JSON without changing any number: with JavaScript's `JSON` if doubles can represent all numbers,
// otherwise with the code here. Neither `JSON` of Node 20 nor a library keeps all numbers without changing the handling
// of duplicate keys, `__proto__` or the accepted depth.
import { ExactNumber, isExactAsDouble, mayHoldInexactNumber } from './exact-number.js';
import { setOwn, isContainer, ownValue, type JsonObject } from './json.js';

/** Works like `JSON.parse`, except that a number which a double would change becomes an `ExactNumber`. */
export function parseJson(text: string): unknown {
  if (!mayHoldInexactNumber(text) || positionOfNumber(text, isChangedByDouble) === undefined) return JSON.parse(text);
  JSON.parse(text); // throws if the text is not JSON, because `readExactly` needs valid JSON
  return readExactly(text);
}

/** Works like `parseJson`, except that it returns undefined for text that is not JSON. */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * The limit on values in a text. Ten megabytes can contain five million values, each of which needs up to a hundred
 * times its size in memory.
 */
export const MAX_JSON_VALUES = 500_000;

/**
 * Works like `parseJson`, except that it throws a RangeError for text with too many values, before it parses anything.
 */
export function parseModestJson(text: string): unknown {
  if (text.length > MAX_JSON_VALUES && excessOf(text) !== undefined) throw new RangeError('too many values');
  return parseJson(text);
}

/**
 * Scans JSON text before the parser allocates memory for it. Returns `depth` if it is nested deeper than `maxDepth`,
 * and `values` if it holds more than `MAX_JSON_VALUES` elements, members and containers.
 */
export function excessOf(text: string, maxDepth = text.length): 'depth' | 'values' | undefined {
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
        if (depth > maxDepth) return 'depth';
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
    }
    if (values > MAX_JSON_VALUES) return 'values';
  }
  return undefined;
}

/**
 * Works like `JSON.stringify`, except that an `ExactNumber` is written as a number. JSON must be able to represent the
 * value.
 */
export function writeJson(value: unknown): string {
  const before = ExactNumber.written;
  const text = JSON.stringify(value) ?? 'null';
  return ExactNumber.written === before ? text : (writeExactly(value) ?? 'null');
}

/** Like `writeJson`, but returns '' for a value that is too deeply nested, or too long for one string. */
export function writeJsonOrNothing(value: unknown): string {
  try {
    return writeJson(value);
  } catch {
    return '';
  }
}

/** Returns the position of the first wanted number of a JSON text, without its sign. */
export function positionOfNumber(text: string, isWanted: (digits: string) => boolean): number | undefined {
  const first = numbersIn(text, isWanted).next();
  return first.done === true ? undefined : first.value[0];
}

/** Yields the positions at which the wanted numbers start and end, without their signs. */
function* numbersIn(text: string, isWanted: (digits: string) => boolean): Generator<[start: number, end: number]> {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (isDigit(unit)) {
      const end = endOfNumber(text, at);
      if (isWanted(text.slice(at, end))) yield [at, end];
      at = end;
    }
  }
}

function isChangedByDouble(digits: string): boolean {
  return !isExactAsDouble(digits);
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Replaces the numbers of a JSON text that a double would change. The text may have been cut off between two values,
 * and may be decoded as latin-1. Invalid JSON remains invalid.
 */
export function replaceInexactNumbers(text: string, replace: (number: string) => string): string {
  if (!mayHoldInexactNumber(text)) return text;
  let replaced = '';
  let copied = 0;
  for (const [at, end] of numbersIn(text, isChangedByDouble)) {
    const start = text.charCodeAt(at - 1) === MINUS ? at - 1 : at;
    const number = text.slice(start, end);
    if (!NUMBER.test(number) || isKey(text, end)) continue;
    replaced += text.slice(copied, start) + replace(number);
    copied = end;
  }
  return replaced + text.slice(copied);
}

/** A number before a colon is invalid JSON, but the string that replaces the number could be a valid key. */
function isKey(text: string, end: number): boolean {
  let at = end;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at += 1;
  return text.charCodeAt(at) === COLON;
}

/**
 * Does not recurse, so no depth of nesting overflows the stack. `text` is valid JSON, so commas and colons can be
 * skipped.
 */
function readExactly(text: string): unknown {
  const root: unknown[] = [];
  const outer: (JsonObject | unknown[])[] = [];
  let holder: JsonObject | unknown[] = root;
  let key: string | undefined;
  const put = (value: unknown): void => {
    if (Array.isArray(holder)) holder.push(value);
    else setOwn(holder, key ?? '', value);
    key = undefined;
  };
  const open = (container: JsonObject | unknown[]): void => {
    put(container);
    outer.push(holder);
    holder = container;
  };
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE) open({});
    else if (unit === OPEN_BRACKET) open([]);
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) holder = outer.pop() ?? root;
    else if (unit > SPACE && unit !== COMMA && unit !== COLON) {
      const end = unit === QUOTE ? endOfString(text, at) + 1 : endOfWord(text, at);
      const leaf = readLeaf(text.slice(at, end), unit);
      if (key === undefined && typeof leaf === 'string' && !Array.isArray(holder)) key = leaf;
      else put(leaf);
      at = end - 1;
    }
  }
  return root[0];
}

/** V8 copies a substring up to this length. A longer substring keeps the whole text in memory. */
const COPIED_CHARACTERS = 12;

/**
 * Reads a string, a number, `true`, `false` or `null`. Copies the value's text, as `JSON.parse` does, so that the value
 * doesn't keep the whole JSON text in memory.
 */
function readLeaf(text: string, unit: number): unknown {
  if (unit === QUOTE) {
    const isPlain = text.length <= COPIED_CHARACTERS && !text.includes('\\');
    return isPlain ? text.slice(1, -1) : JSON.parse(text);
  }
  if (unit !== MINUS && !isDigit(unit)) return JSON.parse(text);
  return isExactAsDouble(text) ? Number(text) : new ExactNumber(JSON.parse(`"${text}"`) as string);
}

/** Returns undefined for values that JSON omits. Must be called only for values that `JSON.stringify` accepts. */
function writeExactly(value: unknown): string | undefined {
  if (value instanceof ExactNumber) return value.toString();
  if (typeof value !== 'object' || value === null || hasOwnWriting(value)) return JSON.stringify(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${writeExactly(item) ?? 'null'}`;
    return `[${text}]`;
  }
  for (const [key, member] of Object.entries(value)) {
    const written = writeExactly(member);
    if (written !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${written}`;
  }
  return `{${text}}`;
}

/**
 * Returns true if the object has a `toJSON` method, like dates. In a value from JSON, this key never contains a
 * function.
 */
function hasOwnWriting(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

/** Returns the position of the closing quote, or the end of the text. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at += 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1;
  for (let unit = text.charCodeAt(end); isDigit(unit) || NUMBER_UNITS.has(unit); unit = text.charCodeAt(end)) end += 1;
  return end;
}

/** Returns the end of a number, `true`, `false` or `null`. */
function endOfWord(text: string, start: number): number {
  let end = start + 1;
  for (let unit = text.charCodeAt(end); unit > SPACE && !WORD_ENDS.has(unit); unit = text.charCodeAt(end)) end += 1;
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const WORD_ENDS = new Set([COMMA, CLOSE_BRACKET, CLOSE_BRACE]);
const NUMBER_UNITS = new Set(Array.from('.eE+-', (sign) => sign.charCodeAt(0)));

/**
 * Writes JSON in the canonical form of RFC 8785, for hashes: no white space, and the keys of each object in the order
 * of their UTF-16 code units. A number that no double can represent is written unchanged. The function recurses, so the
 * value must not be nested too deep.
 */
export function writeCanonicalJson(value: unknown): string {
  if (!isContainer(value)) return writeJson(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeCanonicalJson(item)).join(',')}]`;
  const members = Object.keys(value)
    .toSorted(byCodeUnits)
    .map((key) => `${JSON.stringify(key)}:${writeCanonicalJson(ownValue(value, key))}`);
  return `{${members.join(',')}}`;
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}
