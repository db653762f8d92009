// Tells runs that what a node of theirs waits for has come. A signal that has not been confirmed is sent again.
import type { Logger } from '../../config/logger.js';
import { findUndeliveredWakes, markWoken } from '../../db/waits/callbacks-repository.js';
import type { WaitKey } from '../../db/waits/wait-key.js';
import type { AppDeps } from '../deps.js';
import { signalWake } from '../runs/temporal-calls.js';

const REDELIVER_AFTER_SECONDS = 3;
const REDELIVER_IN_ALL = 50;
const REDELIVER_AT_ONCE = 10;

/** Never throws. If the process dies before the signal, `redeliverWakes` sends it. */
export async function deliverWake(deps: AppDeps, log: Logger, wait: WaitKey): Promise<void> {
  try {
    await signalWake(deps.temporal, wait.runId, { path: wait.path, nodeId: wait.nodeId });
    await markWoken(deps.db, wait);
  } catch (error) {
    log.warn({ err: error, run_id: wait.runId }, 'a run was not woken yet; the signal will be sent again');
  }
}

/** Runs in every API process, next to the reconciler. Throws when the database is unavailable. */
export async function redeliverWakes(deps: AppDeps, stopped: AbortSignal): Promise<void> {
  const queue = (await findUndeliveredWakes(deps.db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL)).values();
  const work = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && !stopped.aborted; next = queue.next()) {
      await deliverWake(deps, deps.logger, next.value);
    }
  };
  await Promise.all(Array.from({ length: REDELIVER_AT_ONCE }, work));
}
