import { setTimeout as delay } from 'node:timers/promises';
import { START_GRACE_SECONDS } from '../../acceptance/store-run.js';
import { announceRunEnd, type RunEndDeps } from '../../acceptance/announce-run-end.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Doer } from '../../db/audit/audit-entry.js';
import { recordChange } from '../../db/audit/record-change.js';
import { endQueuedRun } from '../../db/conversations/queue-repository.js';
import { findRunStatus, requestCancel } from '../../db/runs/runs-repository.js';
import type { Database } from '../../db/core/client.js';
import { ApiError, notFound } from '../http/errors.js';
import { linkRequestToRun } from './run-traces.js';
import { cancelRunWorkflow } from './temporal-calls.js';

/** The caller waits this long for the run to end; a run with a node that is slow to stop ends later. */
const WAIT_MS = 3_000;
const LOOK_EVERY_MS = 50;

/**
 * The request to cancel is stored before it is sent to Temporal. If sending fails, the reconciler repeats it until the
 * run has ended. Returns when the run has ended, as soon as sending fails, or after three seconds (up to five, if a
 * call to Temporal is under way then). Throws 404 for an unknown run, and 400 for a finished one.
 */
export async function cancelRun(
  deps: RunEndDeps & { db: Database },
  log: Logger,
  { workflowId, runId, doer }: { workflowId: number; runId: string; doer: Doer },
): Promise<void> {
  if ((await findRunStatus(deps.db, workflowId, runId)) === undefined) throw notFound();
  await linkRequestToRun(deps, runId);
  const cancelled = { action: 'run.cancelled', type: 'run', doer, key: { id: runId } } as const;
  await recordChange(deps.db, cancelled, async (trx) => {
    if (await requestCancel(trx, runId, START_GRACE_SECONDS)) return;
    throw new ApiError(400, 'run_finished', 'The run has already finished.');
  });
  const ended = await endQueuedRun(deps.db, runId);
  if (ended !== undefined) return announceRunEnd(deps, runId, ended);
  const giveUpAt = performance.now() + WAIT_MS;
  try {
    for (let isDelivered = false; performance.now() < giveUpAt; await delay(LOOK_EVERY_MS)) {
      // The workflow of a run that was accepted a moment ago may not exist yet.
      isDelivered ||= await cancelRunWorkflow(deps.temporal, runId);
      if ((await findRunStatus(deps.db, workflowId, runId)) !== 'In Progress') return;
    }
  } catch (error) {
    log.warn({ err: error, run_id: runId }, 'the cancel is not delivered yet; the reconciler will deliver it');
  }
}
