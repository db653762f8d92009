// The runs of MCP tool calls.
import { sql } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

export interface RunEnd {
  status: StoredRunStatus;
  errorCode: string | null;
  /** Masked. */
  errorMessage: string | null;
}

/** How the run stands. Undefined where there is no such run. */
export async function findRunEnd(db: Db, runId: string): Promise<RunEnd | undefined> {
  const { rows } = await sql<RunEnd>`
    SELECT status, error_code AS "errorCode", error_message AS "errorMessage" FROM runs WHERE id = ${runId}`.execute(
    db,
  );
  return rows[0];
}

/** Under which hash the graph that the run executes is stored. Undefined where there is no such run. */
export async function findSnapshotOf(db: Db, runId: string): Promise<Buffer | undefined> {
  const { rows } = await sql<{ hash: Buffer }>`
    SELECT snapshot_hash AS hash FROM runs WHERE id = ${runId}`.execute(db);
  return rows[0]?.hash;
}

/** Undefined for a graph that is gone. */
export async function findPlan(db: Db, snapshotHash: Buffer): Promise<Plan | undefined> {
  const { rows } = await sql<{ plan: Plan }>`
    SELECT plan FROM graph_snapshots WHERE hash = ${snapshotHash}`.execute(db);
  return rows[0]?.plan;
}

/** The workflow of a run. */
export async function findWorkflowOf(db: Db, runId: string): Promise<number | undefined> {
  const { rows } = await sql<{ workflowId: number }>`
    SELECT workflow_id AS "workflowId" FROM runs WHERE id = ${runId}`.execute(db);
  return rows[0]?.workflowId;
}
