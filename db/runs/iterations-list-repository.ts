// The iterations of a loop, for readers. Extensions, section 1.3.
import { sql } from 'kysely';
import type { NodeStatus } from '../core/tables.js';
import type { Database } from '../core/client.js';
import type { NodeKey } from '../../graph/plan.js';
import { ofLoop } from '../nodes/iterations-repository.js';
import { isExpired } from '../retention/retention-repository.js';
import { isoText } from './entry-text.js';
import { iterationCounts } from './iterations-text.js';
import type { PolledNode } from './polled-run.js';
import { ofApprovals, openRequests } from './poll-repository.js';
import { storedWait } from './waiting-text.js';

export interface IterationsQuery {
  workflowId: number;
  status: NodeStatus | undefined;
  limit: number;
  offset: number;
  retentionDays: number;
}

export interface ListedIteration {
  path: string;
  status: NodeStatus;
  isReused: boolean;
  /** As JSON writes a Date. */
  startedAt: string;
  finishedAt: string | null;
  nodes: PolledNode[];
}

/** Larger results are read one by one (`readResultPieces`). */
const TOGETHER_BYTES = 64 * 1024;

/**
 * A page of the iterations that have begun, in their order, with their nodes, in one snapshot. Undefined where the
 * workflow has no such run.
 */
export function listIterations(
  db: Database,
  loop: NodeKey,
  query: IterationsQuery,
): Promise<{ total: number; iterations: ListedIteration[] } | undefined> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (transaction) => {
    const run = await transaction
      .selectFrom('runs')
      .select('id')
      .where('id', '=', loop.runId)
      .where('workflow_id', '=', query.workflowId)
      .executeTakeFirst();
    if (run === undefined) return undefined;
    const chosen = sql`${ofLoop(loop)} AND status = coalesce(${query.status ?? null}, status)`;
    const counted = await sql<{ total: number }>`
      SELECT count(*) AS total FROM node_results WHERE ${chosen}`.execute(transaction);
    const { rows } = await sql<Omit<ListedIteration, 'nodes'>>`
      SELECT path, status, is_reused AS "isReused", ${isoText(sql`started_at`)} AS "startedAt", ${isoText(sql`finished_at`)} AS "finishedAt"
      FROM node_results WHERE ${chosen}
      ORDER BY length(path), path LIMIT ${query.limit} OFFSET ${query.offset}`.execute(transaction);
    const paths = rows.map(({ path }) => path);
    const nodes = await sql<PolledNode & { path: string }>`
      SELECT node.path, node.node_id AS id, node.status, node.error_code AS "errorCode",
        node.error_message AS "errorMessage", node.is_handled AS "isHandled", node.is_reused AS "isReused",
        ${isoText(sql`node.started_at`)} AS "startedAt", ${isoText(sql`node.finished_at`)} AS "finishedAt",
        CASE WHEN node.result_bytes <= ${TOGETHER_BYTES} THEN node.result::text END AS result,
        coalesce(node.result_bytes > ${TOGETHER_BYTES}, false) AND node.result IS NOT NULL AS "isApart",
        ${ofApprovals(openRequests)} AS approvals, ${storedWait} AS waiting, ${iterationCounts} AS iterations
      FROM node_results AS node JOIN runs AS run ON run.id = node.run_id
      WHERE node.run_id = ${loop.runId} AND node.path = ANY (${paths}) AND NOT node.is_iteration
        AND NOT ${isExpired(query.retentionDays)}
      ORDER BY node.started_at, node.node_id`.execute(transaction);
    const byPath = new Map(paths.map((path): [string, PolledNode[]] => [path, []]));
    for (const { path, ...node } of nodes.rows) byPath.get(path)?.push(node);
    const iterations = rows.map((row) => ({ ...row, nodes: byPath.get(row.path)! }));
    return { total: counted.rows[0]!.total, iterations };
  });
}
