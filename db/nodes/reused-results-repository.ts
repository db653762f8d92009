// Reads reused results (`is_reused`), and how nodes ended, for the worker.
import { sql, type RawBuilder } from 'kysely';
import { indexOfPath, iterationsPrefix } from '../../graph/iteration-path.js';
import type { NodeEnding, NodeKey } from '../../graph/plan.js';
import { pushTo } from '../../graph/push-to.js';
import type { Db } from '../core/client.js';
import { ofLoop } from './iterations-repository.js';

/** The end of a node, without the path, which the caller knows. */
export interface EndedNode extends NodeEnding {
  nodeId: string;
}

export const endedColumns = sql`node_id AS "nodeId", status, handle, also_handles AS "alsoHandles",
  error_code AS "errorCode", is_handled AS "isHandled"`;

export async function findReusedNodes(db: Db, runId: string): Promise<EndedNode[]> {
  const { rows } = await sql<EndedNode>`
    SELECT ${endedColumns} FROM node_results WHERE run_id = ${runId} AND path = '' AND is_reused`.execute(db);
  return rows;
}

/** Returns the rows of these nodes of an iteration, ordered by their end. Nodes that have not ended come last. */
export async function findEndsOf(
  db: Db,
  { runId, path }: Omit<NodeKey, 'nodeId'>,
  nodeIds: string[],
): Promise<EndedNode[]> {
  const { rows } = await sql<EndedNode>`
    SELECT ${endedColumns} FROM node_results
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ANY(${nodeIds}) AND NOT is_iteration
    ORDER BY finished_at NULLS LAST`.execute(db);
  return rows;
}

/** A condition on `path`: true for the loop's own iterations, false for iterations of loops inside them. */
export function isDirectlyIn({ path, nodeId }: Omit<NodeKey, 'runId'>): RawBuilder<unknown> {
  const prefix = iterationsPrefix(path, nodeId);
  return sql`starts_with(path, ${prefix}) AND substr(path, char_length(${prefix}) + 1) ~ '^[0-9]+[]]$'`;
}

/** Returns the reused nodes, by iteration index, of the loop's iterations that are not reused as a whole. */
export async function findReusedInIterations(db: Db, loop: NodeKey): Promise<Map<number, EndedNode[]>> {
  const { rows } = await sql<EndedNode & { path: string }>`
    SELECT path, ${endedColumns} FROM node_results AS node
    WHERE run_id = ${loop.runId} AND is_reused AND NOT is_iteration AND ${isDirectlyIn(loop)} AND NOT EXISTS (
      SELECT FROM node_results AS iteration
      WHERE iteration.run_id = node.run_id AND iteration.path = node.path AND iteration.node_id = ${loop.nodeId}
        AND iteration.is_reused)
    ORDER BY length(path), path, started_at, node_id`.execute(db);
  const byIndex = new Map<number, EndedNode[]>();
  for (const { path, ...end } of rows) {
    const index = indexOfPath(path);
    pushTo(byIndex, index, end);
  }
  return byIndex;
}

/** Returns the indexes of the loop's reused iterations, in ascending order. */
export async function findReusedIterations(db: Db, loop: NodeKey): Promise<number[]> {
  const { rows } = await sql<{ path: string }>`
    SELECT path FROM node_results WHERE ${ofLoop(loop)} AND is_reused`.execute(db);
  return rows.map(({ path }) => indexOfPath(path)).toSorted((a, b) => a - b);
}

/**
 * Returns the number of the loop's stored items if the run reuses them together with results of their iterations, or is
 * a test. Returns undefined otherwise, and if no item is stored.
 */
export async function countReusedItems(db: Db, { runId, path, nodeId }: NodeKey): Promise<number | undefined> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer AS count FROM loop_items
    WHERE run_id = ${runId} AND path = ${path} AND node_id = ${nodeId} AND (EXISTS (
      SELECT FROM runs WHERE id = ${runId} AND purpose = 'test'
    ) OR EXISTS (
      SELECT FROM node_results
      WHERE node_results.run_id = ${runId} AND is_reused
        AND starts_with(node_results.path, ${iterationsPrefix(path, nodeId)})))
    HAVING count(*) > 0`.execute(db);
  return rows[0]?.count;
}
