// Lists the iterations of a loop for readers.
import { sql } from 'kysely';
import type { NodeStatus } from '../core/tables.js';
import type { Database, Db } from '../core/client.js';
import { markResults } from '../files/deleted-marks.js';
import type { NodeKey } from '../../graph/plan.js';
import { ofLoop } from '../nodes/iterations-repository.js';
import { resultBytes } from '../nodes/result-bytes.js';
import { isExpired } from '../retention/retention-repository.js';
import { isoText } from '../core/iso-text.js';
import { iterationCounts } from './iteration-counts.js';
import type { PolledNode } from './polled-run.js';
import { openApprovals } from './poll-repository.js';
import { storedWait } from './stored-wait.js';

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
  /** ISO 8601, as JSON writes a Date. */
  startedAt: string;
  finishedAt: string | null;
  /** Undefined if the page is too large to be read at once: `readIterationNodes` reads the nodes of each iteration. */
  nodes: PolledNode[] | undefined;
}

/**
 * The limit for all nodes of a page that is read at once, and for the results that are read with the nodes of an
 * iteration.
 */
const PAGE_BYTES = 512 * 1024;
/** The memory that an entry takes without its result. */
const ENTRY_BYTES = 512;

/**
 * Returns a page of the started iterations in ascending order, with their nodes, from one snapshot. Undefined if the
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
    const nodes = await readSmallPage(transaction, loop.runId, paths, query.retentionDays);
    const iterations = rows.map((row) => ({ ...row, nodes: nodes && (nodes.get(row.path) ?? []) }));
    return { total: counted.rows[0]!.total, iterations };
  });
}

async function readSmallPage(
  db: Db,
  runId: string,
  paths: string[],
  retentionDays: number,
): Promise<Map<string, PolledNode[]> | undefined> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(${resultBytes} + ${ENTRY_BYTES}::integer), 0)::float8 AS bytes FROM node_results
    WHERE run_id = ${runId} AND path = ANY (${paths}) AND NOT is_iteration`.execute(db);
  return rows[0]!.bytes > PAGE_BYTES ? undefined : readNodes(db, runId, paths, retentionDays);
}

/** Returns the current nodes of an iteration; none if the results have expired. */
export async function readIterationNodes(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  retentionDays: number,
): Promise<PolledNode[]> {
  return (await readNodes(db, runId, [path], retentionDays)).get(path) ?? [];
}

async function readNodes(
  db: Db,
  runId: string,
  paths: string[],
  retentionDays: number,
): Promise<Map<string, PolledNode[]>> {
  const { rows } = await sql<PolledNode & { path: string }>`
    SELECT node.path, node.node_id AS id, node.status, node.error_code AS "errorCode",
      node.error_message AS "errorMessage", node.is_handled AS "isHandled", node.is_reused AS "isReused", node.source, node.is_stale AS "isStale",
      ${isoText(sql`node.started_at`)} AS "startedAt", ${isoText(sql`node.finished_at`)} AS "finishedAt",
      CASE WHEN until_here <= ${PAGE_BYTES} THEN node.result::text END AS result,
      CASE WHEN until_here > ${PAGE_BYTES} AND node.result IS NOT NULL THEN node.result_bytes END AS "apartBytes",
      ${openApprovals} AS approvals, ${storedWait} AS waiting, ${iterationCounts} AS iterations
    FROM (
      SELECT *, sum(${resultBytes}) OVER (PARTITION BY path ORDER BY started_at, node_id) AS until_here
      FROM node_results WHERE run_id = ${runId} AND path = ANY (${paths}) AND NOT is_iteration
    ) AS node JOIN runs AS run ON run.id = node.run_id
    WHERE NOT ${isExpired(retentionDays)}
    ORDER BY node.started_at, node.node_id`.execute(db);
  const byPath = new Map<string, PolledNode[]>();
  for (const { path, ...node } of await markResults(db, [runId], rows)) {
    const nodes = byPath.get(path) ?? [];
    nodes.push(node);
    byPath.set(path, nodes);
  }
  return byPath;
}
