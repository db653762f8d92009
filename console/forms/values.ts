import { asObject, isEqualJson, type JsonObject } from '../ui/json.js';

/** Returns a value as it is edited: as JSON, or as bare text if that cannot be taken for JSON. */
export function toJsonText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && !isJson(value) && value !== '') return value;
  return JSON.stringify(value, null, 2);
}

/**
 * Returns undefined for an empty text, else the JSON, else the text itself. Variables such as `{{ input.order }}` are
 * such texts.
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

/** Returns undefined for an empty text, else the number, else the text itself. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) && /^[-+.\d]/.test(trimmed) ? number : text;
}

// Rows hold names and values while they are written: two rows may have one name for a moment, or none yet.

export interface RecordRow {
  name: string;
  value: unknown;
}

export function toRows(value: unknown): RecordRow[] {
  return Object.entries(asObject(value)).map(([name, each]) => ({ name, value: each }));
}

/** Returns the record. Rows without a name do not count. If two rows have one name, the last one counts. */
export function toRecord(rows: readonly RecordRow[]): JsonObject {
  return Object.fromEntries(rows.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]));
}

/** Returns the rows as they are being written, unless the value has been changed elsewhere, by Undo for example. */
export function currentRows(written: readonly RecordRow[], value: unknown): readonly RecordRow[] {
  return isEqualJson(toRecord(written), asObject(value)) ? written : toRows(value);
}
