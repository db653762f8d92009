import { isEqualJson, type JsonObject } from '../../graph/json.js';
import { asObject } from '../ui/json.js';

/** Returns the editable text of a value: JSON, or the bare text if it is not valid JSON itself. */
export function toJsonText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && !isJson(value) && value !== '') return value;
  return JSON.stringify(value, null, 2);
}

/**
 * Parses a text as JSON. Returns undefined if it is empty, and the text itself if it is not JSON, such as
 * `{{ input.order }}`.
 */
export function fromJsonText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns undefined for an empty text, the number if it is one, else the text itself. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) && /^[-+.\d]/.test(trimmed) ? number : text;
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
