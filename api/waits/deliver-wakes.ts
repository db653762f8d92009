// Tells runs that what a node of theirs waits for has come. A signal that has not been confirmed is sent again.
import type { Logger } from '../../config/logger.js';
import { markWoken } from '../../db/waits/wakes-repository.js';
import type { WaitKey } from '../../db/waits/wait-key.js';
import type { AppDeps } from '../deps.js';
import { signalWake } from '../runs/temporal-calls.js';

/** Sends the signal and never throws. If the process dies before it, the reconciler sends it (`redeliverSignals`). */
export async function deliverWake(deps: AppDeps, log: Logger, wait: WaitKey): Promise<void> {
  try {
    await signalWake(deps.temporal, wait.runId, { path: wait.path, nodeId: wait.nodeId });
    await markWoken(deps.db, wait);
  } catch (error) {
    log.warn({ err: error, run_id: wait.runId }, 'a run was not woken yet; the signal will be sent again');
  }
}
