// A schedule starts this workflow at each firing. It accepts a run, starts it and stays open until the run ends, so
// that Temporal's overlap policy applies to runs.
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  getExternalWorkflowHandle,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ChildToStart } from '../contract/activities.js';
import { NOMINAL_TIME_ATTRIBUTE, scheduleIdOf } from '../contract/scheduled-run.js';
import { acceptFiring, cancelFiredRun, isRunOver } from './activity-options.js';
import { startChildRun } from './child-runs.js';

const nominalTime = defineSearchAttributeKey(NOMINAL_TIME_ATTRIBUTE, 'DATETIME');
const LEAST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 15 * 60_000;
/**
 * If the run is not a child, the pause between two checks is this share of the time since the wait or the cancel
 * started.
 */
const PAUSE_SHARE = 0.1;

export async function scheduledRun(): Promise<void> {
  const { workflowId, typedSearchAttributes, startTime } = workflowInfo();
  const scheduleId = scheduleIdOf(workflowId);
  const atMs = typedSearchAttributes.get(nominalTime)!.getTime();
  const run = await CancellationScope.nonCancellable(() =>
    acceptFiring({ scheduleId, atMs, startedMs: startTime.getTime() }),
  );
  if (run === undefined) return;
  let cancelling: Promise<void> | undefined;
  const cancelRequest = CancellationScope.current().cancelRequested.catch(() => {
    cancelling = CancellationScope.nonCancellable(() => cancel(run.runId));
  });
  await CancellationScope.nonCancellable(() => untilEnded(run, cancelRequest));
  await cancelling;
  if (cancelling !== undefined) throw new CancelledFailure('The run of the schedule was cancelled.');
}

/**
 * Stores the cancel request before Temporal gets it. So the reconciler repeats the cancel until the run has ended, even
 * if this first one is lost.
 */
async function cancel(runId: string): Promise<void> {
  await cancelFiredRun(runId);
  await getExternalWorkflowHandle(runId)
    .cancel()
    .catch(() => undefined);
}

/** Resolves when the run has ended in any way. The run itself reports a failure or a cancel. */
async function untilEnded(run: ChildToStart, cancelRequest: Promise<unknown>): Promise<void> {
  const child = await startChildRun(run);
  if (child !== undefined) {
    await child.result().catch(() => undefined);
    return;
  }
  let sinceMs = Date.now();
  const untilCancel = async (): Promise<void> => {
    await cancelRequest;
    interruption = undefined;
    sinceMs = Date.now();
  };
  let interruption: Promise<void> | undefined = untilCancel();
  while (!(await isRunOver(run.runId))) {
    const pauseMs = Math.max(LEAST_PAUSE_MS, (Date.now() - sinceMs) * PAUSE_SHARE);
    const pause = sleep(Math.min(LONGEST_PAUSE_MS, pauseMs));
    await (interruption === undefined ? pause : Promise.race([pause, interruption]));
  }
}
