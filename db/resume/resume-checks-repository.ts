// Checks before a run is resumed: no run below it may be open, and no call with an unknown outcome may be repeated
// unless the request accepts that.
import { sql, type RawBuilder } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';

/**
 * Error codes of nodes with a call that was not answered, or whose answer was not recorded. `outcome_unknown` means the
 * same, and `isUnknown` compares it separately. All other codes mean that the call was answered or never made.
 */
const WITHOUT_ANSWER = ['cancelled', 'timeout', 'network_error', 'mcp_unreachable', 'worker_lost', 'internal_error'];

/**
 * A condition on rows of `node_results` with the alias `node`: the outcome of one of the node's calls is unknown.
 *
 * Of the calls without a model, the ledger contains those of HTTP and MCP nodes (ordinal 0) only if they must not be
 * repeated. The state of such a call does not show whether it was answered: a node that ends by itself marks it
 * `applied` in any case, and a node that is closed from outside leaves it `sent`. So the error code of the node
 * decides. A tool call of an agent (ordinal above 0) stays `sent` until the model gets an answer, which may say that
 * the call failed. The calls of a reused node are those of the earlier run.
 */
const isUnknown: RawBuilder<unknown> = sql`
  NOT node.is_iteration AND node.status = 'failed' AND (node.error_code = 'outcome_unknown' OR EXISTS (
    WITH RECURSIVE origins AS (
      SELECT node.run_id AS id
      UNION ALL
      SELECT runs.resumed_from FROM origins JOIN runs USING (id) WHERE node.is_reused AND runs.resumed_from IS NOT NULL
    )
    SELECT FROM origins JOIN provider_calls AS call ON call.run_id = origins.id
    WHERE call.path = node.path AND call.node_id = node.node_id
      AND CASE WHEN call.ordinal > 0 THEN call.state = 'sent'
        ELSE call.model IS NULL AND call.state <> 'refused' AND node.error_code = ANY (${sql.val(WITHOUT_ANSWER)}::text[]) END
  ))`;

/** Returns the nodes of the run with a call of unknown outcome. */
export async function findUnknownOutcomes(db: Db, runId: string): Promise<Omit<NodeKey, 'runId'>[]> {
  const { rows } = await sql<Omit<NodeKey, 'runId'>>`
    SELECT path, node_id AS "nodeId" FROM node_results AS node WHERE run_id = ${runId} AND ${isUnknown}`.execute(db);
  return rows;
}

/** Returns true if any of these runs, or a run below them, has a node with a call of unknown outcome. */
export async function haveUnknownOutcomes(db: Db, runIds: string[]): Promise<boolean> {
  if (runIds.length === 0) return false;
  const { rows } = await sql`
    WITH RECURSIVE below AS (
      SELECT unnest(${runIds}::uuid[]) AS id
      UNION
      SELECT wait.child_run_id FROM waits AS wait JOIN below ON wait.run_id = below.id WHERE wait.child_run_id IS NOT NULL
    )
    SELECT FROM below JOIN node_results AS node ON node.run_id = below.id WHERE ${isUnknown}
    LIMIT 1`.execute(db);
  return rows.length > 0;
}

/**
 * Returns an open run that a node of this run, or of a run below it, has waited for; undefined if there is none. Such a
 * run is stopped a little later than the node, and goes on until then.
 */
export async function findOpenRunBelow(db: Db, runId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    WITH RECURSIVE below AS (
      SELECT ${runId}::uuid AS id
      UNION
      SELECT wait.child_run_id FROM waits AS wait JOIN below ON wait.run_id = below.id
      WHERE wait.child_run_id IS NOT NULL AND wait.until IS NOT NULL
    )
    SELECT id FROM below JOIN runs USING (id) WHERE runs.status = 'In Progress' LIMIT 1`.execute(db);
  return rows[0]?.id;
}
