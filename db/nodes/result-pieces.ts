import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import { markDeletedFiles, markPieces } from '../files/deleted-marks.js';
import type { NodeKey } from '../../graph/plan.js';
import { resultBytes } from './result-bytes.js';
import { readPieces } from '../core/text-pieces.js';

/** Yields a result's JSON text in pieces. Throws if it has expired meanwhile. */
export function readResultPieces(db: Db, { runId, path, nodeId }: NodeKey): AsyncGenerator<string> {
  const pieces = readPieces(
    db,
    sql`SELECT result::text AS text FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`,
  );
  return markPieces(db, runId, pieces);
}

/**
 * PostgreSQL refuses to decode some escapes (NUL, lone surrogates) that stored results may contain, and one such
 * result must not break a list. An even number of backslashes before the `u` is text, not an escape.
 */
const readable = sql.raw(
  String.raw`regexp_replace(result::text, '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'gi')::json`,
);

/** The result of a row of `node_results`, reduced to its content, which is cut to `contentLimit` characters. */
export function cutResult(contentLimit: number): RawBuilder<string> {
  return sql`json_build_object('content', left(${readable} ->> 'content', ${contentLimit}::integer))::text`;
}

/**
 * Returns the JSON texts of the nodes' results by node id. Results larger than `contentLimit` bytes are reduced to
 * their contents, which are cut to that many characters.
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
  }>`
    SELECT node_id AS "nodeId", ${shown} AS shown FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY (${nodeIds}) AND result IS NOT NULL`.execute(db);
  const texts = await markDeletedFiles(
    db,
    [runId],
    rows.map(({ shown: result }) => result),
  );
  return new Map(rows.map(({ nodeId }, at) => [nodeId, texts[at]!]));
}
