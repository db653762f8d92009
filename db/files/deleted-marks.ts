// Marks the values of deleted files for readers of runs that refer to them.
import { sql } from 'kysely';
import { cutText } from '../../graph/cut-text.js';
import type { Db } from '../core/client.js';

async function findDeletedOf(db: Db, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT DISTINCT id FROM file_references JOIN files ON files.id = file_id
    WHERE kind = 'run' AND holder = ANY (${runIds}::text[]) AND copy_id IS NULL`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

const NAMED = /file_id\\*"\s*:\s*\\*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(\\*")/gi;

function withMarks(text: string, deleted: ReadonlySet<string>): string {
  return text.replace(NAMED, (named, id: string, quote: string) =>
    deleted.has(id.toLowerCase()) ? `${named},${quote}deleted${quote}:true` : named,
  );
}

/**
 * Adds `"deleted":true` to the values of deleted files, even in JSON that is a string inside other JSON. Executes one
 * statement for all texts, and none if no text contains a file.
 */
export async function markDeletedFiles<Text extends string | null>(
  db: Db,
  runIds: readonly string[],
  texts: readonly Text[],
): Promise<(Text | string)[]> {
  if (!texts.some((text) => text?.includes('file_id'))) return [...texts];
  const deleted = await findDeletedOf(db, [...new Set(runIds)]);
  return texts.map((text) => (text === null || deleted.size === 0 ? text : withMarks(text, deleted)));
}

/** `markDeletedFiles` for the column `result` of rows. */
export async function markResults<Row extends { result: string | null }>(
  db: Db,
  runIds: readonly string[],
  rows: readonly Row[],
): Promise<Row[]> {
  const texts = await markDeletedFiles(
    db,
    runIds,
    rows.map(({ result }) => result),
  );
  return rows.map((row, at) => ({ ...row, result: texts[at]! }));
}

/**
 * The length up to which `markPieces` finds every match of `NAMED`, including the backslashes before its quotes. It
 * suffices for a value in JSON that is nested as a string in other JSON up to six times. A longer match may be missed
 * if it spans two pieces.
 */
const LONGEST_NAMED = 256;

/** `markDeletedFiles` for a text in pieces. No piece ends within a character, because each is encoded by itself. */
export async function* markPieces(db: Db, runId: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  const deleted = await findDeletedOf(db, [runId]);
  if (deleted.size === 0) {
    yield* pieces;
    return;
  }
  let rest = '';
  for await (const piece of pieces) {
    const text = rest + piece;
    const end = endOfWhole(text);
    rest = text.slice(end);
    yield withMarks(text.slice(0, end), deleted);
  }
  yield withMarks(rest, deleted);
}

/**
 * Returns a position at which the text can be cut without splitting a character, or a match of `NAMED` of up to
 * `LONGEST_NAMED` characters, whatever text follows.
 */
function endOfWhole(text: string): number {
  const end = cutText(text, Math.max(0, text.length - LONGEST_NAMED)).length;
  const across = [...text.matchAll(NAMED)].find(({ 0: named, index }) => index < end && index + named.length > end);
  return across === undefined ? end : across.index + across[0].length;
}
