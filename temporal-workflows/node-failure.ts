import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { DoneNodes } from '../activities/node/failures.js';

/** The failure that an activity ended with by itself; undefined when Temporal gave up on it. A local one comes unwrapped. */
export function nodeFailureOf(error: unknown): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure ? failure : undefined;
}

/** What the activity had done when the next node failed, or Temporal gave up on it: as it last said then. */
export function doneBefore(failure: unknown): DoneNodes {
  const cause = failure instanceof ActivityFailure ? failure.cause : undefined;
  const said: unknown =
    cause instanceof TimeoutFailure ? cause.lastHeartbeatDetails : nodeFailureOf(failure)?.details?.[0];
  return { done: 0, branches: [], ...(said as Partial<DoneNodes> | undefined) };
}
