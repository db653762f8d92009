// The reconciler closes runs whose workflow can no longer report, starts accepted runs whose start was lost and queued
// runs that are next in their conversation, and repeats cancel requests and signals that may have been lost. It runs in
// every API process. Claiming runs needs an advisory lock, checking them does not
// (docs/adr/0008-reconciler-by-lease.md).
import { claimUndelivered } from '../../db/agents/approvals-repository.js';
import { claimRunsToCheck, type RunToCheck } from '../../db/runs/runs-repository.js';
import { claimUndeliveredWakes } from '../../db/waits/wakes-repository.js';
import { deliverDecision } from '../approvals/decide-approval.js';
import type { BackgroundDeps } from './deps.js';
import { pingTemporal } from '../runs/temporal-calls.js';
import { deliverWake } from '../../acceptance/wake-run.js';
import { startLoop, createPacer, workThrough, type BackgroundLoop } from '../loops/background-loop.js';
import { reconcileRun } from './reconcile-run.js';

const INTERVAL_MS = 2_000;
/** The longest interval while Temporal or the database is unavailable; the interval doubles up to it. */
const MAX_INTERVAL_MS = 10_000;
const BATCH = 30;
const AT_ONCE = 10;
/**
 * Covers a batch in which every call to Temporal reaches its deadline (2 s, a start 6 s). A queued message with a large
 * drawing may take longer. Another process then checks its run at the same time, and the run still starts only once. A
 * failed check is repeated after the lease.
 */
const LEASE_SECONDS = 30;
const PING_MS = 2_000;
/** Runs accepted while Temporal was unavailable are started at this rate, so that their starts do not overload it. */
const STARTS_PER_SECOND = 50;

/** `stop` of the loop resolves when the checks under way have ended. */
export function startReconciler(deps: BackgroundDeps): BackgroundLoop {
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
      // Runs wait and nothing is lost, so a failed round is only a debug line and a metric.
      rounds.inc({ outcome: 'failed' });
      deps.logger.debug({ err: error }, 'reconciler cannot reach Temporal or the database');
      intervalMs = Math.min(MAX_INTERVAL_MS, intervalMs * 2);
    }
    return intervalMs;
  });
}

interface Round {
  deps: BackgroundDeps;
  stopped: AbortSignal;
  waitToStart: () => Promise<void>;
}

/**
 * Checks every run that is due, in batches. Returns `busy` when another process holds the lock for claiming. Throws
 * before it claims a batch if Temporal or the database is unavailable.
 */
async function reconcileDue(round: Round): Promise<'done' | 'busy'> {
  const { deps, stopped } = round;
  let claimed: RunToCheck[] | undefined;
  let isFirst = true;
  do {
    // The ping precedes each batch: without it, all due runs would be claimed and fail one by one while Temporal is
    // down.
    await pingTemporal(deps.temporal, PING_MS);
    if (isFirst) await redeliverSignals(deps, stopped);
    isFirst = false;
    claimed = await claimRunsToCheck(deps.db, BATCH, LEASE_SECONDS);
    if (claimed === undefined) return 'busy';
    await workThrough(claimed, { atOnce: AT_ONCE, stopped }, (run) => check(round, run));
  } while (claimed.length === BATCH && !stopped.aborted);
  return 'done';
}

/** Never throws, so that a failing check does not block the others. The run is checked again when its lease expires. */
async function check({ deps, waitToStart, stopped }: Round, run: RunToCheck): Promise<void> {
  try {
    await reconcileRun(deps, run, { waitToStart, stopped });
  } catch (error) {
    deps.metrics.reconciler.checks.inc({ outcome: 'failed' });
    deps.logger.warn({ err: error, run_id: run.id }, 'run could not be checked');
  }
}

// Repeats signals that Temporal has not accepted: decisions on requests of agents, and wakes of waiting nodes.

/**
 * A signal that Temporal has not accepted is repeated after this time, then at growing intervals. The run uses only the
 * first one that arrives.
 */
const REDELIVER_AFTER_SECONDS = 3;
const REDELIVER_IN_ALL = 50;
const REDELIVER_AT_ONCE = 10;

/**
 * Runs in every API process, before the first batch of a round, for at most ten seconds for each kind of signal. Throws
 * if the database is unavailable.
 */
async function redeliverSignals(deps: BackgroundDeps, stopped: AbortSignal): Promise<void> {
  const { db, logger } = deps;
  const pool = { atOnce: REDELIVER_AT_ONCE, stopped };
  const decisions = await claimUndelivered(db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL);
  await workThrough(decisions, pool, (decision) => deliverDecision(deps, logger, decision));
  const wakes = await claimUndeliveredWakes(db, REDELIVER_AFTER_SECONDS, REDELIVER_IN_ALL);
  await workThrough(wakes, pool, (wake) => deliverWake(deps, wake));
}
