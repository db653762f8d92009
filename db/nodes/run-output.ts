// The output of a run: the value of the first output node whose end was recorded (migration 0016). It is read out of the
// node's result, which is masked, and expires with it.
import { sql, type RawBuilder } from 'kysely';
import { endOfString } from '../../graph/json-text.js';
import { markPieces } from '../files/deleted-marks.js';
import type { Db } from '../core/client.js';
import { resultBytes } from './result-bytes.js';
import { readPieces } from '../core/text-pieces.js';

/**
 * Where the value stands in the text of an output node's result, `{"content":"...","value":...}`: the position of its
 * first character, counted from 1 in characters as the database counts them.
 */
export function valueStartOf(result: string): number {
  const content = result.indexOf(':', endOfString(result, 1)) + 1;
  const value = result.indexOf(':', endOfString(result, endOfString(result, content) + 2)) + 1;
  let pairs = 0;
  for (let at = 0; at < value; at += 1) if (isFirstOfPair(result, at)) pairs += 1;
  return value - pairs + 1;
}

/** Two code units of ours are one character of the database. */
function isFirstOfPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}

/** The value as JSON text, out of a row of `node_results` and its row of `run_outputs`. */
function valueText(node: string, output: string): RawBuilder<string> {
  const [result, start] = [sql.ref(`${node}.result`), sql.ref(`${output}.value_start`)];
  return sql`substr(${result}::text, ${start}, char_length(${result}::text) - ${start})`;
}

/**
 * A table expression with one row where the run with the alias `run` has an output that has not expired: `of_node`, and
 * `text`, which is null where the node's result has more than `maxBytes`.
 */
export function outputOfRun(maxBytes: number): RawBuilder<unknown> {
  return sql`(
    SELECT given.node_id AS of_node, CASE WHEN given.result_bytes <= ${sql.lit(maxBytes)}
      THEN ${valueText('given', 'first')} END AS text, given.result_bytes
    FROM run_outputs AS first JOIN node_results AS given USING (run_id, path, node_id)
    WHERE first.run_id = run.id AND given.result IS NOT NULL
  )`;
}

/** The output's JSON text, piece by piece, as `readResultPieces` reads a result. */
export function readOutputPieces(db: Db, runId: string): AsyncGenerator<string> {
  const pieces = readPieces(
    db,
    sql`SELECT text FROM (SELECT ${runId}::uuid AS id) AS run CROSS JOIN LATERAL ${outputOfRun(2 ** 31 - 1)} AS output`,
  );
  return markPieces(db, runId, pieces);
}

export interface RunResult {
  /** The node that gives the run its result. */
  path: string;
  nodeId: string;
  /** Whether that is its output node; else its last node, whose content counts. */
  isOutput: boolean;
  /** The size of all forms in which the result of the node is stored. */
  sizeBytes: number;
}

/** What whoever has called the run gets of it: its output, or what its last node put out. Undefined where that is gone. */
export async function findRunResult(db: Db, runId: string): Promise<RunResult | undefined> {
  const { rows } = await sql<RunResult>`/* find_run_result */
    SELECT path, node_id AS "nodeId", first.run_id IS NOT NULL AS "isOutput",
      ${resultBytes} + coalesce(octet_length(result_enc), 0) AS "sizeBytes"
    FROM node_results LEFT JOIN run_outputs AS first USING (run_id, path, node_id)
    WHERE run_id = ${runId} AND (path = '' OR first.run_id IS NOT NULL) AND NOT is_iteration AND status = 'succeed'
      AND result IS NOT NULL
    ORDER BY first.run_id IS NULL, finished_at DESC, started_at DESC, node_id LIMIT 1`.execute(db);
  return rows[0];
}

/** How many characters the text of such a result has, as the database counts them. Undefined where it is gone. */
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

/** Whether the results of a run have been given up to retention: what is found of them is not all of them. */
export async function areResultsExpired(db: Db, runId: string): Promise<boolean> {
  const run = await db.selectFrom('runs').select('results_expired_at').where('id', '=', runId).executeTakeFirst();
  return run === undefined || run.results_expired_at !== null;
}
