// The placement of nodes is decided by how quick they have been of late (graph/dense/placement.ts).
import { sql } from 'kysely';
import type { NodeSpeed } from '../../graph/dense/placement.js';
import type { Db } from '../core/client.js';

/** Nodes of recent runs that are looked at, at least: of a large drawing fewer runs than of a small one. */
const NODES_AT_ONCE = 10_000;

/**
 * Returns the speeds by node id, over each node's last `sample` executions in the workflow's last runs (twice as many,
 * since a node on a branch is not in each of them; of a large drawing down to half as many, for they are sorted every
 * few seconds). An execution that is still going counts with the time that it has taken so far, once that is long; one
 * that was cancelled with its run says nothing.
 */
export async function findNodeSpeeds(db: Db, workflowId: number, sample: number): Promise<Map<string, NodeSpeed>> {
  const { rows } = await sql<NodeSpeed & { nodeId: string }>`
    WITH newest AS (
      SELECT json_array_length(graph.plan -> 'ids') AS nodes
      FROM runs JOIN graph_snapshots graph ON graph.hash = runs.snapshot_hash
      WHERE workflow_id = ${workflowId} ORDER BY runs.created_at DESC, runs.id DESC LIMIT 1
    ), recent AS (
      SELECT id, created_at FROM runs WHERE workflow_id = ${workflowId}
      ORDER BY created_at DESC, id DESC
      LIMIT (SELECT least(2 * ${sample}::integer, greatest(${sample}::integer / 2, ${NODES_AT_ONCE}::integer / greatest(nodes, 1)))
        FROM newest)
    )
    SELECT node_id AS "nodeId", count(*) AS executions,
      count(*) FILTER (WHERE status = 'failed' OR attempts > 1) AS failures,
      percentile_disc(0.95) WITHIN GROUP (ORDER BY took_ms) AS "p95Ms"
    FROM (
      SELECT node.node_id COLLATE "C" AS node_id, node.status, node.attempts,
        extract(epoch FROM coalesce(node.finished_at, now()) - node.started_at)::float8 * 1000 AS took_ms,
        row_number() OVER (PARTITION BY node.node_id COLLATE "C" ORDER BY recent.created_at DESC, recent.id DESC) AS nth
      FROM recent JOIN node_results node ON node.run_id = recent.id
      WHERE node.error_code IS DISTINCT FROM 'cancelled'
        AND (node.status <> 'in progress' OR node.started_at < now() - interval '1 second')
    ) lately
    WHERE nth <= ${sample}
    GROUP BY node_id`.execute(db);
  return new Map(rows.map(({ nodeId, ...speed }) => [nodeId, speed]));
}
