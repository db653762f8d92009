// The three flags of a run (docs/use/interface-notes/runs.md, "History, usage, billing").
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { StoredRunStatus } from '../core/tables.js';

export type RunFlag = 'is_api_run' | 'use_in_marketplace_example' | 'use_as_marketplace_template';

/** A workflow has at most one run with such a flag; the database holds that by a unique index too. */
const EXCLUSIVE: readonly RunFlag[] = ['is_api_run', 'use_as_marketplace_template'];

interface FlagChange {
  workflowId: number;
  runId: string;
  flag: RunFlag;
  value: boolean;
}

/**
 * Setting an exclusive flag clears it on the run that had it, in the same transaction. A flag pins the results of its
 * run, so one whose results have expired gets none: then nothing changes, and the answer is false. The caller has made
 * sure that the workflow has the run.
 */
export function setRunFlag(db: Db, { workflowId, runId, flag, value }: FlagChange): Promise<boolean> {
  return inTransaction(db, async (transaction) => {
    const isExclusive = value && EXCLUSIVE.includes(flag);
    // One toggle of a workflow at a time. Lock order: workflow, then runs; nobody locks them the other way round.
    if (isExclusive) {
      await transaction.selectFrom('workflows').select('id').where('id', '=', workflowId).forNoKeyUpdate().execute();
    }
    // Retention locks the row as well: either it sees the flag, or this sees that the results have expired.
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
        .where(flag, '=', true)
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
  purpose: 'run' | 'test';
  /** True if the run carries a drawing with at least one node. */
  hasData: boolean;
}

/** Returns undefined when the workflow has no such run. A terminal status and the drawing of a run never change. */
export async function findFlagCandidate(db: Db, workflowId: number, runId: string): Promise<FlagCandidate | undefined> {
  const { rows } = await sql<FlagCandidate>`
    SELECT run.status, run.purpose, CASE WHEN json_typeof(graph.document -> 'nodes') = 'array'
      THEN json_array_length(graph.document -> 'nodes') > 0 ELSE false END AS "hasData"
    FROM runs run JOIN graph_snapshots graph ON graph.hash = run.snapshot_hash
    WHERE run.id = ${runId} AND run.workflow_id = ${workflowId}`.execute(db);
  return rows[0];
}
