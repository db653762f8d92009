// How quick the nodes of a workflow have been of late: what their placement is decided by (graph/dense/placement.ts).
import { sql } from 'kysely';
import type { NodeSpeed } from '../../graph/dense/placement.js';
import type { Db } from '../core/client.js';

/**
 * By node id, over each node's last `sample` executions in the workflow's last runs (twice as many, since a node on a
 * branch is not in each of them). One that is still going counts with the time
 * that it has taken so far, once that is long; one that was cancelled with its run says nothing.
 */
export async function findNodeSpeeds(db: Db, workflowId: number, sample: number): Promise<Map<string, NodeSpeed>> {
  const { rows } = await sql<NodeSpeed & { nodeId: string }>`
    SELECT node_id AS "nodeId", count(*) AS executions,
      count(*) FILTER (WHERE status = 'failed' OR attempts > 1) AS failures,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY took_ms) AS "p95Ms"
    FROM (
      SELECT node.node_id, node.status, node.attempts,
        extract(epoch FROM coalesce(node.finished_at, now()) - node.started_at)::float8 * 1000 AS took_ms,
        row_number() OVER (PARTITION BY node.node_id ORDER BY recent.created_at DESC, recent.id DESC) AS nth
      FROM (
        SELECT id, created_at FROM runs WHERE workflow_id = ${workflowId}
        ORDER BY created_at DESC, id DESC LIMIT ${2 * sample}
      ) recent
      JOIN node_results node ON node.run_id = recent.id
      WHERE node.error_code IS DISTINCT FROM 'cancelled'
        AND (node.status <> 'in progress' OR node.started_at < now() - interval '1 second')
    ) lately
    WHERE nth <= ${sample}
    GROUP BY node_id`.execute(db);
  return new Map(rows.map(({ nodeId, ...speed }) => [nodeId, speed]));
}
