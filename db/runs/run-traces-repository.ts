// The trace of a run, and the attributes of its span.
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

interface RunTrace {
  /** The trace of the request that started the run; null if that request was not traced. */
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
