// Reads the facts of a run from which the answers to MCP tool calls and chat completions are made.
import { sql } from 'kysely';
import type { Plan } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

export interface RunEnd {
  status: StoredRunStatus;
  errorCode: string | null;
  /** Masked. */
  errorMessage: string | null;
  hasExpired: boolean;
}

export function findRunEnd(db: Db, runId: string): Promise<RunEnd | undefined> {
  return db
    .selectFrom('runs')
    .select(['status', 'error_code as errorCode', 'error_message as errorMessage'])
    .select(sql<boolean>`results_expired_at IS NOT NULL`.as('hasExpired'))
    .where('id', '=', runId)
    .executeTakeFirst();
}

/** Returns true if a spending limit stopped a run below this root run. */
export async function hasReachedLimitBelow(db: Db, runId: string): Promise<boolean> {
  const found = await db
    .selectFrom('runs')
    .select('id')
    .where('root_run_id', '=', runId)
    .where('error_code', '=', 'budget_exceeded')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns the hash of the graph that the run executes; undefined if there is no such run. */
export async function findSnapshotOf(db: Db, runId: string): Promise<Buffer | undefined> {
  const run = await db.selectFrom('runs').select('snapshot_hash').where('id', '=', runId).executeTakeFirst();
  return run?.snapshot_hash;
}

export async function findPlanOfSnapshot(db: Db, snapshotHash: Buffer): Promise<Plan | undefined> {
  const graph = await db
    .selectFrom('graph_snapshots')
    .select('plan')
    .where('hash', '=', snapshotHash)
    .executeTakeFirst();
  return graph?.plan as Plan | undefined;
}

export async function findWorkflowOf(db: Db, runId: string): Promise<number | undefined> {
  const run = await db.selectFrom('runs').select('workflow_id').where('id', '=', runId).executeTakeFirst();
  return run?.workflow_id;
}
