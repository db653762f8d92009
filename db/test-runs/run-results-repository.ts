// Reads results of runs, for pins, for cases and their expectations, and for tests that reuse results.
import { sql } from 'kysely';
import { iterationPath } from '../../graph/iteration-path.js';
import type { Handle, NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import { anyOf } from '../core/statement.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { isExpired } from '../retention/retention-repository.js';
import { outputOfRun } from '../nodes/run-output.js';

export interface ResultToPin {
  status: 'succeed' | 'failed';
  handle: Handle;
  alsoHandles: Handle[] | null;
  /** JSON text with secrets masked. Null if the node has failed, or if `isLarge`. */
  result: string | null;
  /** The sealed result without masks. Null if nothing was masked, or if `isLarge`. */
  resultEnc: Buffer | null;
  /** True if `result` or `resultEnc` has more than `limitBytes`. */
  isLarge: boolean;
  errorCode: string | null;
  errorMessage: string | null;
}

/**
 * Returns undefined if the workflow has no such run, the node has not ended in the run, or the run's results have
 * expired; and for a run of the assistant in the editor, because every member may read the pins, but not such a run.
 */
export async function findResultToPin(
  db: Db,
  workflowId: number,
  { runId, path, nodeId }: NodeKey,
  { retentionDays, limitBytes }: { retentionDays: number; limitBytes: number },
): Promise<ResultToPin | undefined> {
  const { rows } = await sql<ResultToPin>`
    SELECT node.status, node.handle, node.also_handles AS "alsoHandles", size > ${limitBytes}::integer AS "isLarge",
      CASE WHEN size <= ${limitBytes}::integer THEN node.result::text END AS result,
      CASE WHEN size <= ${limitBytes}::integer THEN node.result_enc END AS "resultEnc",
      node.error_code AS "errorCode", node.error_message AS "errorMessage"
    FROM (
      SELECT *, greatest(${resultBytes}, octet_length(result_enc), 0) AS size FROM node_results
      WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND NOT is_iteration AND status <> 'in progress'
    ) AS node JOIN runs ON runs.id = node.run_id
    WHERE runs.workflow_id = ${workflowId} AND runs.purpose <> 'assistant' AND NOT ${isExpired(retentionDays)}`.execute(
    db,
  );
  return rows[0];
}

/** The end of a node, as readers see it. */
export interface NodeEnd {
  nodeId: string;
  path: string;
  status: 'succeed' | 'failed';
  /** JSON text. */
  result?: string;
  error?: { code: string; message: string };
  /** True if the run survived the failure. */
  isHandled: boolean;
}

export async function findNodeEnds(db: Db, runId: string, nodeIds: readonly string[]): Promise<NodeEnd[]> {
  return listEnds(db, runId, nodeIds, (query) => query.where('path', '=', ''));
}

/** Returns the bytes of the results of nodes outside loops, by node. A node without a result may be absent. */
export async function measureNodeEnds(db: Db, runId: string, nodeIds: readonly string[]): Promise<Map<string, number>> {
  if (nodeIds.length === 0) return new Map();
  const rows = await sizesOf(db, runId, nodeIds).where('path', '=', '').execute();
  return new Map(rows.map(({ node_id: nodeId, bytes }) => [nodeId, bytes]));
}

/**
 * Returns the number of ends of nodes, including those in all iterations, and the bytes of their results. Counts at
 * most `limit` ends.
 */
export async function measureEndsOf(
  db: Db,
  runId: string,
  nodeIds: readonly string[],
  limit: number,
): Promise<{ count: number; bytes: number }> {
  if (nodeIds.length === 0) return { count: 0, bytes: 0 };
  return db
    .selectFrom(sizesOf(db, runId, nodeIds).limit(limit).as('sizes'))
    .select((row) => row.fn.countAll<number>().as('count'))
    .select(sql<number>`coalesce(sum(bytes), 0)::bigint`.as('bytes'))
    .executeTakeFirstOrThrow();
}

function sizesOf(db: Db, runId: string, nodeIds: readonly string[]) {
  const isRead = sql`status = 'succeed'`;
  return endsOf(db, runId, nodeIds).select([
    'node_id',
    sql<number>`CASE WHEN ${isRead} THEN ${resultBytes} ELSE 0 END`.as('bytes'),
  ]);
}

/** Includes the nodes in all iterations. */
export function listEndsOf(db: Db, runId: string, nodeIds: readonly string[], limit: number): Promise<NodeEnd[]> {
  return listEnds(db, runId, nodeIds, (query) => query.orderBy('path').limit(limit));
}

async function listEnds(
  db: Db,
  runId: string,
  nodeIds: readonly string[],
  which: (query: ReturnType<typeof selectEnds>) => ReturnType<typeof selectEnds>,
): Promise<NodeEnd[]> {
  if (nodeIds.length === 0) return [];
  const rows = await which(selectEnds(db, runId, nodeIds)).execute();
  return rows.map(({ node_id: nodeId, path, status, is_handled: isHandled, text, ...row }): NodeEnd => {
    if (status === 'failed') {
      const error = { code: row.error_code ?? 'failed', message: row.error_message ?? '' };
      return { nodeId, path, status, isHandled, error };
    }
    return { nodeId, path, status: 'succeed', isHandled, ...(text !== null && { result: text }) };
  });
}

function selectEnds(db: Db, runId: string, nodeIds: readonly string[]) {
  const text = sql<string | null>`result::text`.as('text');
  return endsOf(db, runId, nodeIds).select([
    'node_id',
    'path',
    'status',
    'is_handled',
    'error_code',
    'error_message',
    text,
  ]);
}

function endsOf(db: Db, runId: string, nodeIds: readonly string[]) {
  return db
    .selectFrom('node_results')
    .where('run_id', '=', runId)
    .where('node_id', '=', anyOf(nodeIds))
    .where('is_iteration', '=', false)
    .where('status', '<>', 'in progress');
}

/**
 * Returns the output of a run as JSON text; undefined if there is none, if it has expired, or if the result that
 * contains it has more than `mostBytes`.
 */
export async function findOutput(db: Db, runId: string, mostBytes = 2 ** 31 - 1): Promise<string | undefined> {
  const { rows } = await sql<{ text: string | null }>`
    SELECT output.text FROM (SELECT ${runId}::uuid AS id) AS run CROSS JOIN LATERAL ${outputOfRun(mostBytes)} AS output`.execute(
    db,
  );
  return rows[0]?.text ?? undefined;
}

/** Returns the bytes of the result that contains the output of a run; 0 if there is no output, or it has expired. */
export async function measureOutput(db: Db, runId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT output.result_bytes AS bytes
    FROM (SELECT ${runId}::uuid AS id) AS run CROSS JOIN LATERAL ${outputOfRun(0)} AS output`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** Returns true if the run has started all of these iterations. */
export async function haveStarted(
  db: Db,
  runId: string,
  loops: readonly { path: string; nodeId: string; index: number }[],
): Promise<boolean> {
  const wanted = loops.map(({ path, nodeId, index }) => iterationPath(path, nodeId, index));
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM node_results
    WHERE run_id = ${runId} AND is_iteration AND path = ANY (${wanted}::text[])`.execute(db);
  return rows[0]?.count === wanted.length;
}
