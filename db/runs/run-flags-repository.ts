// The three flags of a run (docs/use/interface-notes/runs.md, "History, usage, billing").
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { RunPurpose, StoredRunStatus } from '../core/tables.js';

export type RunFlag = 'is_api_run' | 'use_in_marketplace_example' | 'use_as_marketplace_template';

/** At most one run of a workflow has such a flag. A unique index enforces this too. */
const EXCLUSIVE: readonly RunFlag[] = ['is_api_run', 'use_as_marketplace_template'];

interface FlagChange {
  workflowId: number;
  runId: string;
  flag: RunFlag;
  value: boolean;
}

/**
 * Sets or clears a flag. Setting an exclusive flag clears it on the run that had it, in the same transaction. A flag
 * keeps the results of its run from expiring, so it cannot be set once retention has expired them (`expireRuns`):
 * returns false then and changes nothing. The caller must have checked that the run belongs to the workflow.
 */
export function setRunFlag(db: Db, { workflowId, runId, flag, value }: FlagChange): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    const isExclusive = value && EXCLUSIVE.includes(flag);
    // Serializes the toggles of a workflow. A lock of the workflow's row could deadlock with `archiveWorkflow`, which
    // locks open runs before the workflow.
    if (isExclusive)
      await sql`SELECT pg_advisory_xact_lock(hashtext('run-flags'), ${workflowId}::integer)`.execute(transaction);
    // Retention locks the row too: either it sees the flag, or this statement sees that the results have expired.
    const run = await transaction
      .selectFrom('runs')
      .select('results_expired_at')
      .where('id', '=', runId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (value && run?.results_expired_at !== null) return false;
    if (isExclusive) {
      await transaction
        .updateTable('runs')
        .set({ [flag]: false, updated_at: sql<Date>`now()` })
        .where('workflow_id', '=', workflowId)
        .where(flag, '=', sql.lit(true))
        .where('id', '!=', runId)
        .execute();
    }
    await transaction
      .updateTable('runs')
      .set({ [flag]: value, updated_at: sql<Date>`now()` })
      .where('id', '=', runId)
      .where('workflow_id', '=', workflowId)
      .execute();
    return true;
  });
}

interface FlagCandidate {
  status: StoredRunStatus;
  purpose: RunPurpose;
  /** True if the drawing of the run has at least one node. */
  hasData: boolean;
}

/**
 * Returns undefined if the workflow has no such run. The result for an ended run stays valid, because a terminal status
 * and the drawing never change.
 */
export async function findFlagCandidate(db: Db, workflowId: number, runId: string): Promise<FlagCandidate | undefined> {
  const { rows } = await sql<FlagCandidate>`
    SELECT run.status, run.purpose, CASE WHEN json_typeof(graph.document -> 'nodes') = 'array'
      THEN json_array_length(graph.document -> 'nodes') > 0 ELSE false END AS "hasData"
    FROM runs run JOIN graph_snapshots graph ON graph.hash = run.snapshot_hash
    WHERE run.id = ${runId} AND run.workflow_id = ${workflowId}`.execute(db);
  return rows[0];
}
