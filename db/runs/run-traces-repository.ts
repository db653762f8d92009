// A run belongs to a trace, and its span says this of it.
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

interface RunTrace {
  /** The trace of the request in which the run was accepted; null if nothing was traced then. */
  traceparent: string | null;
  workflow_id: number;
  project_id: number;
  status: StoredRunStatus;
  error_code: string | null;
  created_at: Date;
  run_finished_at: Date | null;
}

export function findRunTrace(db: Db, runId: string): Promise<RunTrace | undefined> {
  return db
    .selectFrom('runs')
    .select(['traceparent', 'workflow_id', 'project_id', 'status', 'error_code', 'created_at', 'run_finished_at'])
    .where('id', '=', runId)
    .executeTakeFirst();
}
