// Values of files that were deleted although a run refers to them say so to whoever reads the run.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';

/** Returns the ids of the files that the runs refer to and that were deleted. */
async function findDeletedOf(db: Db, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`/* deleted_files_of_runs */
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
 * Returns the texts in which the values of deleted files have `"deleted":true`, also where JSON stands as a text in other
 * JSON. Only texts that name files cost a statement, which is one for all of them.
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

/** Does that with the column `result` of rows. */
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

/** A name in a text, with backslashes before its quotes, has at most so many characters. */
const LONGEST_NAMED = 256;

/** Does that with a text that comes in pieces. */
export async function* markPieces(db: Db, runId: string, pieces: AsyncGenerator<string>): AsyncGenerator<string> {
  const deleted = await findDeletedOf(db, [runId]);
  if (deleted.size === 0) {
    yield* pieces;
    return;
  }
  let kept = '';
  for await (const piece of pieces) {
    const text = kept + piece;
    const end = endOfWhole(text);
    kept = text.slice(end);
    yield withMarks(text.slice(0, end), deleted);
  }
  yield withMarks(kept, deleted);
}

/** Returns where the text can be cut so that no name is in both parts, however it goes on. */
function endOfWhole(text: string): number {
  const end = Math.max(0, text.length - LONGEST_NAMED);
  const across = [...text.matchAll(NAMED)].find(({ 0: named, index }) => index < end && index + named.length > end);
  return across === undefined ? end : across.index + across[0].length;
}
