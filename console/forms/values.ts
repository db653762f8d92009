import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { replaceInexactNumbers } from '../../graph/json-text.js';
import { asObject } from '../ui/json.js';

/**
 * Returns the JSON of a value for editing; empty for undefined. A text that is not empty is returned without quotation
 * marks if it is not valid JSON, or if it is JSON of an object or list with a number that JavaScript would round.
 */
export function toJsonText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && isBare(value)) return value;
  return JSON.stringify(value, null, 2);
}

function isBare(text: string): boolean {
  if (!isJson(text)) return text !== '';
  return losesDigits(text) && /^\s*[[{]/.test(text);
}

/**
 * Parses a text as JSON. Returns undefined if it is empty, and the text itself if it is not JSON, such as
 * `{{ input.order }}`, or has a number that JavaScript would round.
 */
export function fromJsonText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return losesDigits(text) ? text : value;
  } catch {
    return text;
  }
}

/** Puts the numbers of a JSON text that JavaScript would round in quotation marks. */
export function quoteLongNumbers(json: string): string {
  return replaceInexactNumbers(json, (number) => JSON.stringify(number));
}

function losesDigits(json: string): boolean {
  return quoteLongNumbers(json) !== json;
}

/** Returns why a text that looks like JSON is stored as a text; undefined if there is no problem. */
export function problemOfJson(text: string): string | undefined {
  if (!isJson(text)) {
    const looksBroken = /^\s*(?:\[|\{(?!\{))/.test(text);
    return looksBroken ? 'This is not complete JSON yet; as it is, it is a text.' : undefined;
  }
  return losesDigits(text) ? 'A number has more digits than can be kept: put it in quotation marks.' : undefined;
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns undefined for an empty text, a number if the text is a number that keeps its digits, else the text. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) && /^[-+.\d]/.test(trimmed) && !losesDigits(trimmed) ? number : text;
}

// Rows of names and values during editing. Names may be empty or duplicate for a moment.

export interface RecordRow {
  name: string;
  value: unknown;
}

export function toRows(value: unknown): RecordRow[] {
  return Object.entries(asObject(value)).map(([name, each]) => ({ name, value: each }));
}

/** Ignores rows without a name. The last of several rows with one name wins. */
export function toRecord(rows: readonly RecordRow[]): JsonObject {
  return Object.fromEntries(rows.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]));
}

/** Returns the rows being edited, unless the value was changed elsewhere, for example by Undo. */
export function currentRows(written: readonly RecordRow[], value: unknown): readonly RecordRow[] {
  return isEqualJson(toRecord(written), asObject(value)) ? written : toRows(value);
}
