// Writes the end of a run. docs/adr/0011-one-walk.md says who calls it.
import type { FinishRunInput, RunError } from '../../contract/activities.js';
import { tellRunEnd, type RunEndDeps } from '../../acceptance/announce-run-end.js';
import { findNodeError } from '../../db/nodes/node-results-repository.js';
import type { Db } from '../../db/core/client.js';
import { FINISH_SEQUENCE, type ExecutionError, type ExecutionUpdate } from '../../db/runs/execution-update.js';
import { applyExecutionUpdate } from '../../db/runs/run-life.js';

/**
 * Idempotent. A run that somebody else has ended, or that is deleted, stays as it is. Rejects when the database is away, and
 * is repeated then.
 */
export async function endRun(deps: RunEndDeps, { runId, status, error }: FinishRunInput): Promise<void> {
  const update: ExecutionUpdate = { sequence: FINISH_SEQUENCE, status };
  if (status === 'cancelled') update.error = { code: 'cancelled', message: 'The run was cancelled.' };
  if (error !== undefined) update.error = await describe(deps.db, runId, error);
  const outcome = await applyExecutionUpdate(deps.db, runId, update);
  if (outcome.applied) tellRunEnd(deps, runId, outcome);
}

async function describe(db: Db, runId: string, { code, node }: RunError): Promise<ExecutionError> {
  const recorded = node === undefined ? undefined : await findNodeError(db, { runId, ...node });
  return { code, message: recorded ?? `The run failed: ${code}.`, node_id: node?.nodeId };
}
