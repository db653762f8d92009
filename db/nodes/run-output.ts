// The output of a run is the value of the first output node whose end was recorded. It is read from that node's masked
// result, and expires with the result.
import { sql, type RawBuilder } from 'kysely';
import { endOfString } from '../../graph/json-text.js';
import { markPieces } from '../files/deleted-marks.js';
import type { Db } from '../core/client.js';
import { resultBytes } from './result-bytes.js';
import { readPieces } from '../core/text-pieces.js';

/**
 * Returns the position, in characters from 1 as in PostgreSQL, at which `value` starts in an output node's result,
 * `{"content":"...","value":...}`.
 */
export function valueStartOf(result: string): number {
  const content = result.indexOf(':', endOfString(result, 1)) + 1;
  const value = result.indexOf(':', endOfString(result, endOfString(result, content) + 2)) + 1;
  let pairs = 0;
  for (let at = 0; at < value; at += 1) if (isFirstOfPair(result, at)) pairs += 1;
  return value - pairs + 1;
}

/** A surrogate pair is two code units in JavaScript and one character in PostgreSQL. */
function isFirstOfPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

/** The output value as JSON text, from aliases of `node_results` and `run_outputs`. */
function valueText(node: string, output: string): RawBuilder<string> {
  const [result, start] = [sql.ref(`${node}.result`), sql.ref(`${output}.value_start`)];
  return sql`substr(${result}::text, ${start}, char_length(${result}::text) - ${start})`;
}

/**
 * A table expression for the run with the alias `run`: one row if the run has an output that has not expired.
 * `of_node` is the node; `text` is null if the node's result has more than `maxBytes`.
 */
export function outputOfRun(maxBytes: number): RawBuilder<unknown> {
  return sql`(
    SELECT given.node_id AS of_node, CASE WHEN given.result_bytes <= ${sql.lit(maxBytes)}
      THEN ${valueText('given', 'first')} END AS text, given.result_bytes
    FROM run_outputs AS first JOIN node_results AS given USING (run_id, path, node_id)
    WHERE first.run_id = run.id AND given.result IS NOT NULL
  )`;
}

/** Yields the output's JSON text in pieces, like `readResultPieces`. */
export function readOutputPieces(db: Db, runId: string): AsyncGenerator<string> {
  const pieces = readPieces(
    db,
    sql`SELECT text FROM (SELECT ${runId}::uuid AS id) AS run CROSS JOIN LATERAL ${outputOfRun(2 ** 31 - 1)} AS output`,
  );
  return markPieces(db, runId, pieces);
}

export interface RunResult {
  /** `path` and `nodeId` name the node whose output is the result. */
  path: string;
  nodeId: string;
  /** True for the run's output node. False for its last node, whose content is the result then. */
  isOutput: boolean;
  /** The total size of the masked and the sealed form. */
  sizeBytes: number;
}

/**
 * Returns the result that the run's caller receives: the run's output, else the output of its last node. Undefined if
 * there is none, or if the results have expired.
 */
export async function findRunResult(db: Db, runId: string): Promise<RunResult | undefined> {
  const { rows } = await sql<RunResult>`
    SELECT path, node_id AS "nodeId", first.run_id IS NOT NULL AS "isOutput",
      ${resultBytes} + coalesce(octet_length(result_enc), 0) AS "sizeBytes"
    FROM node_results LEFT JOIN run_outputs AS first USING (run_id, path, node_id)
    WHERE run_id = ${runId} AND (path = '' OR first.run_id IS NOT NULL) AND NOT is_iteration AND status = 'succeed'
      AND result IS NOT NULL
    ORDER BY first.run_id IS NULL, finished_at DESC, started_at DESC, node_id LIMIT 1`.execute(db);
  return rows[0];
}

/**
 * Returns the number of characters (code points) of a result that `findRunResult` found, as text or JSON text.
 * Undefined if the result has expired.
 */
export async function countCharacters(
  db: Db,
  runId: string,
  { path, nodeId, isOutput }: RunResult,
): Promise<number | undefined> {
  const { rows } = await sql<{ characters: number }>`
    SELECT coalesce(char_length(result ->> ${isOutput ? 'value' : 'content'}::text), 0) AS characters FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND result IS NOT NULL`.execute(db);
  return rows[0]?.characters;
}

/**
 * Returns true if retention has marked the results of the run as expired (some may not be deleted yet), or if there is
 * no such run.
 */
export async function areResultsExpired(db: Db, runId: string): Promise<boolean> {
  const run = await db.selectFrom('runs').select('results_expired_at').where('id', '=', runId).executeTakeFirst();
  return run === undefined || run.results_expired_at !== null;
}
