// What a run that resumes an earlier one finds of it, and takes over.
import { sql, type RawBuilder } from 'kysely';
import { iterationsPrefix } from '../../graph/iteration-path.js';
import type { NodeKey, Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';
import { endedColumns, type EndedNode } from '../nodes/kept-results-repository.js';
import { ofLoop } from '../nodes/iterations-repository.js';
import { isExpired } from '../retention/retention-repository.js';
import { NODE_ITSELF } from './child-runs-repository.js';
import type { StoredRunContext } from './run-context-repository.js';

/** An earlier run. */
export interface EarlierRun extends Pick<StoredRunContext, 'input' | 'inputEnc' | 'secretsEnc' | 'passedSecretsEnc'> {
  id: string;
  workflowId: number;
  workflowVersion: number;
  projectId: number;
  status: StoredRunStatus;
  isExpired: boolean;
  snapshotHash: Buffer;
  document: Record<string, unknown>;
  plan: Plan;
}

/** Undefined when there is no such run. */
export async function findEarlierRun(db: Db, runId: string, retentionDays: number): Promise<EarlierRun | undefined> {
  const { rows } = await sql<EarlierRun>`
    SELECT runs.id, workflow_id AS "workflowId", workflow_version AS "workflowVersion", project_id AS "projectId", status,
      ${isExpired(retentionDays)} AS "isExpired", snapshot_hash AS "snapshotHash", graph.document, graph.plan,
      input::text AS input, input_enc AS "inputEnc", secrets_enc AS "secretsEnc", passed_secrets_enc AS "passedSecretsEnc"
    FROM runs JOIN graph_snapshots AS graph ON graph.hash = runs.snapshot_hash
    WHERE runs.id = ${runId}`.execute(db);
  return rows[0];
}

/** How the nodes outside bodies have ended. */
export async function findEndedNodes(db: Db, runId: string): Promise<EndedNode[]> {
  const { rows } = await sql<EndedNode>`
    SELECT ${endedColumns} FROM node_results WHERE run_id = ${runId} AND path = ''`.execute(db);
  return rows;
}

/** The paths of the iterations of a loop that have succeeded. */
export async function findDoneIterations(db: Db, loop: NodeKey): Promise<string[]> {
  const { rows } = await sql<{ path: string }>`
    SELECT path FROM node_results WHERE ${ofLoop(loop)} AND status = 'succeed'`.execute(db);
  return rows.map(({ path }) => path);
}

/** The nodes of the run of which nobody knows what their call has done. */
export async function findUnknownOutcomes(db: Db, runId: string): Promise<Omit<NodeKey, 'runId'>[]> {
  const { rows } = await sql<Omit<NodeKey, 'runId'>>`
    SELECT path, node_id AS "nodeId" FROM node_results
    WHERE run_id = ${runId} AND error_code = 'outcome_unknown' AND NOT is_iteration`.execute(db);
  return rows;
}

/** Whether any of these runs, or a run below them, has such a node. */
export async function haveUnknownOutcomes(db: Db, runIds: string[]): Promise<boolean> {
  if (runIds.length === 0) return false;
  const { rows } = await sql`
    WITH RECURSIVE below AS (
      SELECT unnest(${runIds}::uuid[]) AS id
      UNION ALL
      SELECT child.id FROM runs AS child JOIN below ON child.parent_run_id = below.id
    )
    SELECT FROM below JOIN node_results AS node ON node.run_id = below.id AND node.error_code = 'outcome_unknown'
    LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** A run that a node has started. */
export interface StartedRun extends Omit<NodeKey, 'runId'> {
  childId: string;
  /** Whether a node of a sub-workflow waited for it; else an agent, or nobody, did. */
  isOfSubWorkflow: boolean;
}

export async function findStartedRuns(db: Db, runId: string): Promise<StartedRun[]> {
  const { rows } = await sql<StartedRun>`
    SELECT path, node_id AS "nodeId", child_run_id AS "childId", call = ${NODE_ITSELF} AND until IS NOT NULL AS "isOfSubWorkflow"
    FROM waits WHERE run_id = ${runId} AND child_run_id IS NOT NULL`.execute(db);
  return rows;
}

/** What a run takes over. */
export interface KeptResults {
  /** Nodes outside bodies. Of a loop among them, everything in its body, too. */
  nodeIds: string[];
  loopIds: string[];
  /** Loops that continue, with the indexes of the iterations whose results are taken over. */
  iterations: { loopId: string; indexes: number[] }[];
}

/**
 * Locks the earlier run until the end of the transaction, so that its results do not expire meanwhile. False when they
 * have.
 */
export async function holdResults(transaction: Db, runId: string, retentionDays: number): Promise<boolean> {
  const { rows } = await sql<{ isExpired: boolean }>`
    SELECT ${isExpired(retentionDays)} AS "isExpired" FROM runs WHERE id = ${runId} FOR SHARE`.execute(transaction);
  return rows[0]?.isExpired === false;
}

/** Copies what is taken over from one run to the other: results and items, but no calls and no money. */
export async function takeOver(transaction: Db, from: string, to: string, kept: KeptResults): Promise<void> {
  await copyResults(transaction, from, to, sql`path = '' AND node_id = ANY (${kept.nodeIds})`);
  for (const loopId of kept.loopIds) {
    await copyResults(transaction, from, to, sql`starts_with(path, ${iterationsPrefix('', loopId)})`);
    await copyItems(transaction, from, to, loopId, sql`true`);
  }
  for (const { loopId, indexes } of kept.iterations) {
    await copyResults(transaction, from, to, isWithin(loopId, indexes));
    await copyItems(transaction, from, to, loopId, isWithin(loopId, indexes));
  }
  await sql`
    INSERT INTO run_outputs (run_id, path, node_id, value_start)
    SELECT ${to}, path, node_id, value_start FROM run_outputs
    WHERE run_id = ${from} AND EXISTS (
      SELECT FROM node_results AS taken
      WHERE taken.run_id = ${to} AND taken.path = run_outputs.path AND taken.node_id = run_outputs.node_id)`.execute(
    transaction,
  );
}

/** A condition on `path`: it is that of one of these iterations, or of one in them. */
function isWithin(loopId: string, indexes: number[]): RawBuilder<unknown> {
  const prefix = iterationsPrefix('', loopId);
  const index = sql`split_part(substr(path, char_length(${prefix}) + 1), ']', 1)`;
  return sql`starts_with(path, ${prefix}) AND ${index} = ANY (${indexes.map(String)})`;
}

/** `which`: a condition on `path` and `node_id`. */
async function copyResults(db: Db, from: string, to: string, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    INSERT INTO node_results (run_id, path, node_id, status, handle, also_handles, result, result_bytes, result_enc,
      error_code, error_message, is_handled, iterations, is_iteration, started_at, finished_at, is_reused)
    SELECT ${to}, path, node_id, status, handle, also_handles, result, result_bytes, result_enc, error_code, error_message,
      is_handled, iterations, is_iteration, started_at, finished_at, true
    FROM node_results WHERE run_id = ${from} AND ${which}`.execute(db);
}

/** The items of the loop itself, and those of loops in its body for the iterations in `which`. */
async function copyItems(db: Db, from: string, to: string, loopId: string, which: RawBuilder<unknown>): Promise<void> {
  const prefix = iterationsPrefix('', loopId);
  await sql`
    INSERT INTO loop_items (run_id, path, node_id, index, item_enc)
    SELECT ${to}, path, node_id, index, item_enc FROM loop_items
    WHERE run_id = ${from} AND ((path = '' AND node_id = ${loopId}) OR (starts_with(path, ${prefix}) AND ${which}))`.execute(
    db,
  );
}
