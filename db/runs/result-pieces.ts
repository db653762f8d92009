import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { markDeletedFiles, markPieces } from '../files/deleted-marks.js';
import type { NodeKey } from '../../graph/plan.js';
import { resultBytes } from '../nodes/result-bytes.js';

/**
 * The size is in characters of the database, of which one may be two of ours. The whole result is unpacked for each
 * piece of it, so that small pieces cost time and large ones memory.
 */
const PIECE_CHARACTERS = 512 * 1024;

/**
 * Bytes of memory that a piece takes while it is fetched. They are more than the driver holds, so that a reader of large
 * results occupies few of the database's connections: each piece unpacks the whole result.
 */
export const PIECE_BYTES = 32 * PIECE_CHARACTERS;

/**
 * A result's JSON text, piece by piece, and no connection is held between two. Throws when it has expired meanwhile: what
 * was begun cannot be ended then.
 */
export function readResultPieces(db: Db, { runId, path, nodeId }: NodeKey): AsyncGenerator<string> {
  const pieces = readPieces(async (from, count) => {
    const { rows } = await sql<{ piece: string }>`
      SELECT substr(result::text, ${from}::integer, ${count}::integer) AS piece FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`.execute(db);
    return rows[0]?.piece;
  });
  return markPieces(db, runId, pieces);
}

/** `read`: `count` characters of a text from the position `from`, which counts from 1; undefined where it is gone. */
export async function* readPieces(
  read: (from: number, count: number) => Promise<string | undefined>,
): AsyncGenerator<string> {
  for (let from = 1; ; from += PIECE_CHARACTERS) {
    const piece = await read(from, PIECE_CHARACTERS);
    if (piece === undefined) throw new Error('a result expired while it was read');
    yield piece;
    // A full piece has at least as many characters as we count it by.
    if (piece.length < PIECE_CHARACTERS) return;
  }
}

/**
 * A column of type json keeps escapes (NUL, lone surrogates) that PostgreSQL refuses to decode: a foreign server's reply
 * may hold them, and one such result must not break a list. An even number of
 * backslashes before the `u` is text, no escape.
 */
const readable = sql.raw(
  String.raw`regexp_replace(result::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'gi')::json`,
);

/** The result of a row of `node_results`, of whose content only the beginning is kept. */
export function cutResult(contentLimit: number): RawBuilder<string> {
  return sql`json_build_object('content', left(${readable} ->> 'content', ${contentLimit}::integer))::text`;
}

/**
 * JSON texts of the results of some nodes, by their ids. Contents of results that have more than `contentLimit` bytes are
 * cut to that many characters.
 */
export async function readResults(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: readonly string[],
  contentLimit: number | null,
): Promise<Map<string, string>> {
  const text = sql`result::text`;
  const shown =
    contentLimit === null
      ? text
      : sql`CASE WHEN ${resultBytes} > ${contentLimit}::integer THEN ${cutResult(contentLimit)} ELSE ${text} END`;
  const { rows } = await sql<{
    nodeId: string;
    shown: string;
  }>`${sql.raw(contentLimit === null ? '/* read_results */' : '/* read_cut_results */')}
    SELECT node_id AS "nodeId", ${shown} AS shown FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY (${nodeIds}) AND result IS NOT NULL`.execute(db);
  const texts = await markDeletedFiles(
    db,
    [runId],
    rows.map(({ shown: result }) => result),
  );
  return new Map(rows.map(({ nodeId }, at) => [nodeId, texts[at]!]));
}
