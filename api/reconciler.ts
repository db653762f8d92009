// Closes runs whose workflow can no longer speak, and starts accepted runs whose start was lost. In every API process.
import { claimRunsToCheck, type RunToCheck } from '../db/runs-repository.js';
import { redeliverDecisions } from './decide-approval.js';
import type { AppDeps } from './deps.js';
import { pause } from './pause.js';
import { reconcileRun } from './reconcile-run.js';
import { pingTemporal } from './temporal-calls.js';

const INTERVAL_MS = 2_000;
/** While Temporal or the database is away; doubled each time up to the maximum. */
const MAX_INTERVAL_MS = 10_000;
const BATCH = 30;
const AT_ONCE = 10;
/** As long as a batch takes with every call (2 s, a start 6 s) at its deadline; a check that failed is repeated after it. */
const LEASE_SECONDS = 30;
const PING_MS = 2_000;

export interface Reconciler {
  /** Resolves when the check that is under way is over. */
  stop(): Promise<void>;
}

export function startReconciler(deps: AppDeps): Reconciler {
  const stopped = new AbortController();
  const loop = runLoop(deps, stopped.signal);
  return {
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}

async function runLoop(deps: AppDeps, stopped: AbortSignal): Promise<void> {
  let intervalMs = INTERVAL_MS;
  while (!stopped.aborted) {
    try {
      await reconcileDue(deps, stopped);
      intervalMs = INTERVAL_MS;
    } catch (error) {
      // Runs wait and nothing is lost: no more than a line at debug level each time.
      deps.logger.debug({ err: error }, 'reconciler cannot reach Temporal or the database');
      intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2);
    }
    await pause(intervalMs, stopped);
  }
}

/** Checks every run that is due. Throws when Temporal or the database is away, before any run has been claimed. */
async function reconcileDue(deps: AppDeps, stopped: AbortSignal): Promise<void> {
  await pingTemporal(deps.temporal, PING_MS);
  await redeliverDecisions(deps);
  let claimed: RunToCheck[];
  do {
    claimed = await claimRunsToCheck(deps.db, BATCH, LEASE_SECONDS);
    const queue = claimed.values();
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(deps, queue, stopped)));
  } while (claimed.length === BATCH && !stopped.aborted);
}

async function work(deps: AppDeps, queue: Iterator<RunToCheck>, stopped: AbortSignal): Promise<void> {
  for (let next = queue.next(); !next.done && !stopped.aborted; next = queue.next()) {
    const run = next.value;
    try {
      await reconcileRun(deps, run);
    } catch (error) {
      // One run never blocks the others; its lease brings it back.
      deps.logger.warn({ err: error, run_id: run.id }, 'run could not be checked');
    }
  }
}
