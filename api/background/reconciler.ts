// Closes runs whose workflow can no longer speak, and starts accepted runs whose start was lost. In every API process.
// ADR 8: picking runs is under an advisory lock, checking them is not.
import { claimRunsToCheck, type RunToCheck } from '../../db/runs/runs-repository.js';
import { redeliverDecisions } from '../approvals/decide-approval.js';
import { startLoop, type BackgroundLoop } from './background-loop.js';
import type { AppDeps } from '../deps.js';
import { createPacer } from './pacer.js';
import { reconcileRun } from './reconcile-run.js';
import { pingTemporal } from '../runs/temporal-calls.js';

const INTERVAL_MS = 2_000;
/** While Temporal or the database is away; doubled each time up to the maximum. */
const MAX_INTERVAL_MS = 10_000;
const BATCH = 30;
const AT_ONCE = 10;
/** As long as a batch takes with every call (2 s, a start 6 s) at its deadline; a check that failed is repeated after it. */
const LEASE_SECONDS = 30;
const PING_MS = 2_000;
/** When Temporal comes back to many accepted runs, they must not be what brings it down again. */
const STARTS_PER_SECOND = 50;

/** Its `stop` resolves when the check that is under way is over. */
export function startReconciler(deps: AppDeps): BackgroundLoop {
  const { rounds, lastSuccess } = deps.metrics.reconciler;
  const nextStart = createPacer(STARTS_PER_SECOND);
  let intervalMs = INTERVAL_MS;
  return startLoop(async (stopped) => {
    try {
      const outcome = await reconcileDue({ deps, stopped, waitToStart: () => nextStart(stopped) });
      rounds.inc({ outcome });
      lastSuccess.setToCurrentTime();
      intervalMs = INTERVAL_MS;
    } catch (error) {
      // Runs wait and nothing is lost: no more than a line at debug level each time, and the metrics.
      rounds.inc({ outcome: 'failed' });
      deps.logger.debug({ err: error }, 'reconciler cannot reach Temporal or the database');
      intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2);
    }
    return intervalMs;
  });
}

interface Round {
  deps: AppDeps;
  stopped: AbortSignal;
  waitToStart: () => Promise<void>;
}

/** Checks every run that is due. Throws when Temporal or the database is away, before a run has been claimed in vain. */
async function reconcileDue(round: Round): Promise<'done' | 'busy'> {
  const { deps, stopped } = round;
  let claimed: RunToCheck[] | undefined;
  let isFirst = true;
  do {
    // Before each batch: else all that is due would be claimed, and fail, one by one in a Temporal that has just gone.
    await pingTemporal(deps.temporal, PING_MS);
    if (isFirst) await redeliverDecisions(deps, stopped);
    isFirst = false;
    claimed = await claimRunsToCheck(deps.db, BATCH, LEASE_SECONDS);
    if (claimed === undefined) return 'busy';
    const queue = claimed.values();
    await Promise.all(Array.from({ length: AT_ONCE }, () => work(round, queue)));
  } while (claimed.length === BATCH && !stopped.aborted);
  return 'done';
}

async function work({ deps, stopped, waitToStart }: Round, queue: Iterator<RunToCheck>): Promise<void> {
  for (let next = queue.next(); !next.done && !stopped.aborted; next = queue.next()) {
    const run = next.value;
    try {
      await reconcileRun(deps, run, waitToStart);
    } catch (error) {
      // One run never blocks the others; its lease brings it back.
      deps.metrics.reconciler.checks.inc({ outcome: 'failed' });
      deps.logger.warn({ err: error, run_id: run.id }, 'run could not be checked');
    }
  }
}
