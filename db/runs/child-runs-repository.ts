// Runs that nodes of other runs start. `waits` maps a node to its child runs, so that a repeated start finds the
// existing one. A sub-workflow node has one child run; an agent has one for each call of a workflow tool.
import { sql, type RawBuilder } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Database, Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';
import type { WaitKey } from '../waits/wait-key.js';
import { insertAcceptedRun, type RunFacts } from './runs-repository.js';
import { notifyWatchers } from '../watches/notify-watchers.js';

/** The `call` of a child run that the node itself has started, and not a tool call of an agent. */
export const NODE_ITSELF = 0;

export interface StoredChild {
  runId: string;
  workflowId: number;
  projectId: number;
  title: string;
  isOpen: boolean;
  /** True if the run resumes an earlier one. */
  isResumed: boolean;
  /** The end of the node's wait for the run, in milliseconds since the epoch; null if the node does not wait. */
  untilMs: number | null;
}

interface NewChild {
  /** `NODE_ITSELF`, or the number of the agent's tool call (`toolCallNumber`). */
  call: number;
  run: RunFacts;
  untilMs: number | null;
  /** The delay after which the reconciler checks that the start reached Temporal. */
  checkInSeconds: number;
}

const isNode = ({ runId, path, nodeId }: NodeKey): RawBuilder<unknown> =>
  sql`wait.run_id = ${runId} AND wait.path = ${path} AND wait.node_id = ${nodeId}`;

/** Finds the child run that is stored for the node and this `call`. */
export async function findChild(db: Db, node: NodeKey, call: number): Promise<StoredChild | undefined> {
  const { rows } = await sql<StoredChild>`
    SELECT child.id AS "runId", child.workflow_id AS "workflowId", child.project_id AS "projectId", workflow.title,
      child.status = 'In Progress' AS "isOpen", child.resumed_from IS NOT NULL AS "isResumed",
      (extract(epoch FROM wait.until) * 1000)::float8 AS "untilMs"
    FROM waits AS wait JOIN runs AS child ON child.id = wait.child_run_id
      JOIN workflows AS workflow ON workflow.id = child.workflow_id
    WHERE ${isNode(node)} AND wait.call = ${call}`.execute(db);
  return rows[0];
}

/**
 * Inserts the child run and marks the parent's node as started in one transaction: after a crash, both are stored or
 * neither. Returns false, and stores nothing, if another attempt was faster or the node, its run or its iteration has
 * ended.
 */
export function insertChild(
  db: Database,
  node: NodeKey,
  { call, run, untilMs, checkInSeconds }: NewChild,
): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    if (!(await claimChild(transaction, node, { call, childId: run.id, untilMs }))) return false;
    await insertAcceptedRun(transaction, run, checkInSeconds);
    return true;
  });
}

/** Starts the node and its wait for the child run. Returns false in the cases of `insertChild`. */
export async function claimChild(
  transaction: Db,
  node: NodeKey,
  { call, childId, untilMs }: Pick<NewChild, 'call' | 'untilMs'> & { childId: string },
): Promise<boolean> {
  const until = untilMs === null ? null : new Date(untilMs);
  const { rows } = await sql`
      WITH open_run AS (
        SELECT id FROM runs WHERE id = ${node.runId} AND status = 'In Progress' AND NOT EXISTS (
          SELECT FROM node_results AS iteration
          WHERE iteration.run_id = runs.id AND iteration.path = ${node.path} AND is_iteration
            AND iteration.status <> 'in progress')
          AND NOT EXISTS (
            SELECT FROM node_results AS ended
            WHERE ended.run_id = runs.id AND ended.path = ${node.path} AND ended.node_id = ${node.nodeId}
              AND ended.status <> 'in progress')
        FOR KEY SHARE
      ), started AS (
        INSERT INTO node_results (run_id, path, node_id, status)
        SELECT id, ${node.path}, ${node.nodeId}, 'in progress' FROM open_run
        ON CONFLICT (run_id, path, node_id) DO NOTHING
      )
      INSERT INTO waits (run_id, path, node_id, call, kind, until, child_run_id, closed_at)
      SELECT id, ${node.path}, ${node.nodeId}, ${call}::integer, 'child', ${until}::timestamptz, ${childId},
        CASE WHEN ${until}::timestamptz IS NULL THEN clock_timestamp() END
      FROM open_run
      ON CONFLICT (run_id, path, node_id, call) DO NOTHING
      RETURNING ${notifyWatchers(node.runId)}`.execute(transaction);
  return rows.length > 0;
}

/** Returns the number of runs below the root run, counted up to `max`. */
export async function countRunsBelow(db: Db, rootRunId: string, max: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT FROM runs WHERE root_run_id = ${rootRunId} LIMIT ${max}::integer) AS below`.execute(
    db,
  );
  return rows[0]?.count ?? 0;
}

export interface EndedChild {
  runId: string;
  status: StoredRunStatus;
  errorCode: string | null;
  /** Masked. */
  errorMessage: string | null;
}

/**
 * If the child run has ended or the node does not wait for it, ends the node's wait and returns the child; else returns
 * undefined. Idempotent.
 */
export async function endChildWait(db: Db, node: NodeKey, call: number): Promise<EndedChild | undefined> {
  const { rows } = await sql<EndedChild>`
    UPDATE waits AS wait SET closed_at = coalesce(wait.closed_at, clock_timestamp())
    FROM runs AS child
    WHERE ${isNode(node)} AND wait.call = ${call} AND child.id = wait.child_run_id
      AND (child.status <> 'In Progress' OR wait.closed_at IS NOT NULL)
    RETURNING child.id AS "runId", child.status, child.error_code AS "errorCode", child.error_message AS "errorMessage"`.execute(
    db,
  );
  return rows[0];
}

/**
 * A CTE for statements that end a run; their CTE `changed` must return that run. Marks the wait of the parent's node as
 * answered and returns the key of the wait, or no row if no parent waits.
 */
export const answeredParent: RawBuilder<unknown> = sql`
  answered AS (
    UPDATE waits AS wait SET answered_at = clock_timestamp()
    FROM changed
    WHERE wait.run_id = changed.parent_run_id AND wait.path = changed.parent_path
      AND wait.node_id = changed.parent_node_id AND wait.child_run_id = changed.id
      AND wait.answered_at IS NULL AND wait.closed_at IS NULL
    RETURNING wait.run_id, wait.path, wait.node_id, wait.call
  )`;

export const answeredColumns: RawBuilder<unknown> = sql`
  answered.run_id AS "runId", answered.path, answered.node_id AS "nodeId", answered.call`;

export type Answered = { [Column in keyof NodeKey]: string | null } & { call: number | null };

export function toAwaitedBy({ runId, path, nodeId, call }: Answered): { awaitedBy?: WaitKey } {
  if (runId === null || path === null || nodeId === null || call === null) return {};
  return { awaitedBy: { runId, path, nodeId, call } };
}

/** The cost of a run and of all runs below it, in USD. `run` is a table name or alias. */
export function totalCost(run: string): RawBuilder<string> {
  const [id, own] = [sql.ref(`${run}.id`), sql.ref(`${run}.cost_usd`)];
  return sql`(${own} + (
    WITH RECURSIVE below AS (
      SELECT child.id, child.cost_usd FROM runs AS child WHERE child.parent_run_id = ${id}
      UNION ALL
      SELECT child.id, child.cost_usd FROM runs AS child JOIN below ON child.parent_run_id = below.id
    )
    SELECT coalesce(sum(below.cost_usd), 0) FROM below))`;
}
