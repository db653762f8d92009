// The workflow that a schedule starts at each firing. It accepts and starts a run, and stays open until the run ends,
// so that Temporal's overlap policy applies to runs.
import { defineSearchAttributeKey } from '@temporalio/common';
import {
  CancellationScope,
  CancelledFailure,
  continueAsNew,
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

type RunRef = Pick<ChildToStart, 'runId'>;

/** `followed` is the open run of an earlier execution of this workflow, which has continued as new. */
export async function scheduledRun(followed?: RunRef): Promise<void> {
  const accepted = followed === undefined ? await CancellationScope.nonCancellable(accept) : undefined;
  const run = followed ?? accepted;
  if (run === undefined) return;
  let cancelling: Promise<void> | undefined;
  const scope = CancellationScope.current();
  const cancelRequest = scope.cancelRequested.catch(() => {
    cancelling = CancellationScope.nonCancellable(() => cancel(run.runId));
  });
  const child = accepted && (await CancellationScope.nonCancellable(() => startChildRun(accepted)));
  // A cancelled execution does not continue as new, because the next execution would not know of the cancel.
  const isLong = (): boolean => workflowInfo().continueAsNewSuggested && !scope.consideredCancelled;
  await CancellationScope.nonCancellable(() =>
    child === undefined ? untilOver(run, cancelRequest, isLong) : child.result().catch(() => undefined),
  );
  await cancelling;
  if (cancelling !== undefined) throw new CancelledFailure('The run of the schedule was cancelled.');
}

function accept(): Promise<ChildToStart | undefined> {
  const { workflowId, typedSearchAttributes, startTime } = workflowInfo();
  const atMs = typedSearchAttributes.get(nominalTime)!.getTime();
  return acceptFiring({ scheduleId: scheduleIdOf(workflowId), atMs, startedMs: startTime.getTime() });
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

/**
 * Resolves when a run that is no child of this execution has ended in any way. Each check adds to the history of this
 * execution, so the execution continues as new where `isLong` says so: Temporal terminates a workflow whose history is
 * too long, and the schedule would start another run beside this run.
 */
async function untilOver({ runId }: RunRef, cancelRequest: Promise<unknown>, isLong: () => boolean): Promise<void> {
  let sinceMs = Date.now();
  const untilCancel = async (): Promise<void> => {
    await cancelRequest;
    interruption = undefined;
    sinceMs = Date.now();
  };
  let interruption: Promise<void> | undefined = untilCancel();
  while (!(await isRunOver(runId))) {
    if (isLong()) await continueAsNew<typeof scheduledRun>({ runId });
    const pauseMs = Math.max(LEAST_PAUSE_MS, (Date.now() - sinceMs) * PAUSE_SHARE);
    const pause = sleep(Math.min(LONGEST_PAUSE_MS, pauseMs));
    await (interruption === undefined ? pause : Promise.race([pause, interruption]));
  }
}
