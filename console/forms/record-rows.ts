// Names and values while they are written: two rows may have one name for a moment, or none yet.
import { asObject, isSameJson, type JsonObject } from '../drawing/json.js';

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
