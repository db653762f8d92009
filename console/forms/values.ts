import { asObject, isSameJson, type JsonObject } from '../drawing/json.js';

/** A value as it is edited: JSON, or the bare text where that cannot be taken for JSON. */
export function toJsonText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && !isJson(value) && value !== '') return value;
  return JSON.stringify(value, null, 2);
}

/** Undefined for nothing; JSON; else the text itself, which variables such as `{{ input.order }}` are. */
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

/** Undefined for nothing, the number, or the text where it is none. */
export function parseNumber(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  const number = Number(trimmed);
  return Number.isFinite(number) && /^[-+.\d]/.test(trimmed) ? number : text;
}

// Names and values while they are written: two rows may have one name for a moment, or none yet.

export interface RecordRow {
  name: string;
  value: unknown;
}

export function toRows(value: unknown): RecordRow[] {
  return Object.entries(asObject(value)).map(([name, each]) => ({ name, value: each }));
}

/** Rows without a name count for nothing; of two with one name the last one counts. */
export function toRecord(rows: readonly RecordRow[]): JsonObject {
  return Object.fromEntries(rows.filter(({ name }) => name !== '').map(({ name, value }) => [name, value]));
}

/** The rows as they are being written, unless the value has changed elsewhere (Undo, for example). */
export function currentRows(written: readonly RecordRow[], value: unknown): readonly RecordRow[] {
  return isSameJson(toRecord(written), asObject(value)) ? written : toRows(value);
}
