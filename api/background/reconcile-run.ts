// Compares one open run with its workflow in Temporal and repairs the difference.
import { START_GRACE_SECONDS } from '../../acceptance/store-run.js';
import { inSpan } from '../../telemetry/spans.js';
import { endRun, type RunOutcome } from '../../db/runs/run-life.js';
import { findOpenRun, findRunToStart, scheduleCheck, type RunToCheck } from '../../db/runs/runs-repository.js';
import type { BackgroundDeps } from './deps.js';
import { announceRunEnd } from '../../acceptance/announce-run-end.js';
import { startNextQueued } from '../conversations/start-queued.js';
import { findRunContext } from '../runs/run-traces.js';
import {
  cancelRunWorkflow,
  describeRun,
  isStartRefused,
  isTerminatedByServer,
  startRunWorkflow,
  type Closing,
  type RunExecution,
} from '../runs/temporal-calls.js';

/**
 * Bounds the time until the next check, so that a run that was terminated in the Temporal UI is closed within a minute.
 */
const MAX_CHECK_SECONDS = 45;
const CHECK_STEP_SECONDS = 15;
/**
 * Before a run workflow closes, it reports the end of its run. This grace period covers a report that is still being
 * stored, and applies only if Temporal's clock and ours agree that the workflow has just closed, so a wrong clock
 * delays no end.
 */
const CLOSED_GRACE_MS = 5_000;
/**
 * Temporal retries a workflow task at once after its first failure, then ever more slowly (up to ten minutes). A worker
 * that dies or is replaced costs one attempt; this many mean that the code or the run's history is at fault.
 */
const STUCK_TASK_ATTEMPTS = 5;

/**
 * A late start gets more time, because no caller waits for it, and the first start may have failed because Temporal is
 * slow.
 */
const LATE_START_MS = 6_000;

interface StartPace {
  waitToStart: () => Promise<void>;
  /** Aborted when the process stops: a queued run then no longer waits for memory or in the queue of large drawings. */
  stopped: AbortSignal;
}

/**
 * Idempotent. If it throws, for example because Temporal or the database does not answer, the run is checked again when
 * its lease expires. `waitToStart` resolves when one more run may be started.
 */
export async function reconcileRun(deps: BackgroundDeps, run: RunToCheck, pace: StartPace): Promise<void> {
  const execution = await describeRun(deps.temporal, run.id);
  deps.metrics.reconciler.checks.inc({ outcome: execution.state });
  if (execution.state === 'open') return watchOpenRun(deps, run, execution.taskAttempts);
  if (execution.state === 'closed') return closeLate(deps, run, execution);
  if (run.run_started_at !== null) return end(deps, run, lost);
  return startLate(deps, run, pace);
}

/** A stuck run stays open: a deployment that repairs the code can continue it, and a person can end it. */
async function watchOpenRun(deps: BackgroundDeps, run: RunToCheck, taskAttempts: number): Promise<void> {
  if (run.cancel_requested_at !== null) await cancelRunWorkflow(deps.temporal, run.id);
  const isStuck = taskAttempts >= STUCK_TASK_ATTEMPTS;
  if (isStuck && run.stuck_since === null) {
    deps.logger.error({ run_id: run.id, attempts: taskAttempts }, 'run is stuck: its workflow task keeps failing');
  }
  if (!isStuck && run.stuck_since !== null) deps.logger.info({ run_id: run.id }, 'run is stuck no longer');
  const delaySeconds = Math.min(MAX_CHECK_SECONDS, CHECK_STEP_SECONDS * Math.max(1, run.check_attempts));
  await scheduleCheck(deps.db, run.id, { delaySeconds, isStuck });
}

/** Starts an accepted run whose start was lost, or a queued run that is the next of its conversation. */
async function startLate(deps: BackgroundDeps, run: RunToCheck, { waitToStart, stopped }: StartPace): Promise<void> {
  if (run.cancel_requested_at !== null) {
    return end(deps, run, cancelled('cancelled', 'The run was cancelled.'));
  }
  const turn = await startNextQueued(deps, run.id, stopped);
  if (turn === 'later') return;
  const toStart = await findRunToStart(deps.db, run.id);
  if (toStart === undefined) return;
  await waitToStart();
  try {
    const parent = await findRunContext(deps, run.id);
    await inSpan('run started late', { ...(parent && { parent }), attributes: { 'run.id': run.id } }, () =>
      startRunWorkflow(deps.temporal, deps.config, toStart, LATE_START_MS),
    );
  } catch (error) {
    if (!isStartRefused(error)) throw error;
    deps.logger.error({ err: error, run_id: run.id }, 'Temporal refuses to start the run');
    return end(deps, run, failed('start_refused', 'The run could not be started.'));
  }
  if (turn === 'none') {
    deps.metrics.reconciler.startedLate.inc();
    deps.logger.info({ run_id: run.id }, 'run started by the reconciler');
  }
  await scheduleCheck(deps.db, run.id, { delaySeconds: START_GRACE_SECONDS });
}

/** Closes a run whose workflow ended without a report: the workflow was ended from outside or could not report. */
async function closeLate(
  deps: BackgroundDeps,
  run: RunToCheck,
  execution: Extract<RunExecution, { state: 'closed' }>,
): Promise<void> {
  const ageMs = execution.closedAt === undefined ? Infinity : Date.now() - execution.closedAt.getTime();
  if (ageMs >= 0 && ageMs < CLOSED_GRACE_MS) return scheduleCheck(deps.db, run.id, { delaySeconds: 3 });
  // The run is read again, because its report may have arrived between the claim and the description.
  const stillOpen = await findOpenRun(deps.db, run.id);
  if (stillOpen !== undefined) await end(deps, stillOpen, await toEnding(deps, run.id, execution.how));
}

const lost: RunOutcome = failed('execution_lost', 'The execution of the run was lost.');

async function toEnding(deps: BackgroundDeps, runId: string, how: Closing): Promise<RunOutcome> {
  if (how === 'cancelled') return cancelled('cancelled', 'The run was cancelled.');
  if (how === 'timed out') return failed('run_timeout', 'The run took too long.');
  if (how !== 'terminated') return lost;
  const isLimit = await isTerminatedByServer(deps.temporal, runId);
  if (isLimit) return failed('execution_limit', 'The run exceeded a limit of the engine.');
  return cancelled('terminated', 'The run was terminated.');
}

function failed(code: string, message: string): RunOutcome {
  return { status: 'failed', error: { code, message } };
}

function cancelled(code: string, message: string): RunOutcome {
  return { status: 'cancelled', error: { code, message } };
}

/** Changes nothing if the run has ended meanwhile. */
async function end(deps: BackgroundDeps, run: RunToCheck, outcome: RunOutcome): Promise<void> {
  const change = await endRun(deps.db, run.id, outcome);
  if (!change.applied) return;
  const reason = outcome.error?.code ?? 'unknown';
  deps.metrics.reconciler.closed.inc({ reason });
  deps.logger.info({ run_id: run.id, status: change.runStatus, error_code: reason }, 'run closed by the reconciler');
  announceRunEnd(deps, run.id, change);
}
