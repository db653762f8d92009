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

/** What the run executes, whether it is open or not. Undefined for a run without a plan. */
export async function findPlanOf(db: Db, runId: string): Promise<Plan | undefined> {
  const { rows } = await sql<{ plan: Plan }>`
    SELECT graph.plan FROM runs AS run JOIN graph_snapshots AS graph ON graph.hash = run.snapshot_hash
    WHERE run.id = ${runId}`.execute(db);
  return rows[0]?.plan;
}

/** The workflow of a run. */
export async function findWorkflowOf(db: Db, runId: string): Promise<number | undefined> {
  const { rows } = await sql<{ workflowId: number }>`
    SELECT workflow_id AS "workflowId" FROM runs WHERE id = ${runId}`.execute(db);
  return rows[0]?.workflowId;
}
