// The activity that ends a run (docs/adr/0011-one-walk.md lists its callers).
import type { FinishRunInput, RunError } from '../../contract/activities.js';
import { announceRunEnd, type RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { Db } from '../../db/core/client.js';
import { findNodeError } from '../../db/nodes/node-results-repository.js';
import { endRun, type RunOutcome } from '../../db/runs/run-life.js';

/**
 * Idempotent: does nothing if the run has ended or was deleted. Rejects if the database is away,
 * and the activity is then retried.
 */
export async function finishRun(deps: RunEndDeps, { runId, status, error }: FinishRunInput): Promise<void> {
  const outcome: RunOutcome = { status };
  if (status === 'cancelled') outcome.error = { code: 'cancelled', message: 'The run was cancelled.' };
  if (error !== undefined) outcome.error = await describe(deps.db, runId, error);
  const change = await endRun(deps.db, runId, outcome);
  if (change.applied) announceRunEnd(deps, runId, change);
}

async function describe(db: Db, runId: string, { code, node }: RunError): Promise<{ code: string; message: string }> {
  const recorded = node === undefined ? undefined : await findNodeError(db, { runId, ...node });
  return { code, message: recorded ?? `The run failed: ${code}.` };
}
