// Passes exact numbers, as strings with a random mark, through a client library that holds numbers as doubles. In a
// body that is sent, the strings become numbers again. In a body that the library has parsed, they become
// `ExactNumber`s.
import { randomBytes } from 'node:crypto';
import { ExactNumber, mayHoldInexactNumber } from '../graph/exact-number.js';
import { leavesOf, mapLeaves } from '../graph/json.js';
import { replaceInexactNumbers } from '../graph/json-text.js';

const MARK = randomBytes(12).toString('hex');
const MARKED = new RegExp(`"${MARK}(-?[\\d.eE+-]+)"`, 'g');

/** `number` is the text of a JSON number. */
export function markNumber(number: string): string {
  return `${MARK}${number}`;
}

export function unmarkNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}

/** Marks the numbers of a JSON text that a double would change. */
export function markNumbersIn(json: Uint8Array): Uint8Array {
  return mapText(json, markText);
}

/**
 * Marks such numbers in the data of whole server-sent events. Each line of data is marked by itself, because no number
 * or string of JSON goes on in the next line.
 */
export function markNumbersInEvents(events: Uint8Array): Uint8Array {
  return mapText(events, (text) => text.replaceAll(DATA, (line) => (isAddress(line) ? line : markText(line))));
}

const DATA = /^(?:\xef\xbb\xbf)?data:.*/gm;

/**
 * Returns true for the address that the older transport of MCP sends as an event. JSON has the characters `/`, `?` and
 * `=` inside strings only, and a line with a string has quotation marks.
 */
function isAddress(line: string): boolean {
  return !line.includes('"') && /[/?=]/.test(line);
}

function markText(text: string): string {
  return replaceInexactNumbers(text, (number) => `"${markNumber(number)}"`);
}

/** Reads each byte as a character, so that other bytes than those of numbers stay as they are. */
function mapText(bytes: Uint8Array, map: (text: string) => string): Uint8Array {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const mapped = mayHoldInexactNumber(text) ? map(text) : text;
  return mapped === text ? bytes : Buffer.from(mapped, 'latin1');
}

/** Makes `ExactNumber`s of the marked numbers in a value that a library has parsed. */
export function restoreMarkedNumbers<T>(value: T): T {
  if (!leavesOf(value).some(isMarked)) return value;
  return mapLeaves(value, (leaf) => (isMarked(leaf) ? new ExactNumber(leaf.slice(MARK.length)) : leaf)) as T;
}

function isMarked(leaf: unknown): leaf is string {
  return typeof leaf === 'string' && leaf.startsWith(MARK);
}
