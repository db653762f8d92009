import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import { PoolRefused } from './activity-options.js';

/**
 * Returns the failure with which an activity ended itself, or undefined if Temporal gave up on it. Temporal doesn't
 * wrap the failure of a local activity.
 */
export function nodeFailureOf(error: unknown): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure ? failure : undefined;
}

export function failureCode(error: unknown): string {
  const failure = nodeFailureOf(error);
  if (failure !== undefined) return failure.type ?? 'internal_error';
  if (error instanceof PoolRefused) return 'pool_not_allowed';
  if (isTakenTooLate(error)) return 'worker_unavailable';
  // If the activity has not reported a failure itself, Temporal has given up on it (a timeout).
  return error instanceof ActivityFailure ? 'timeout' : 'internal_error';
}

function isTakenTooLate(error: unknown): boolean {
  return (
    error instanceof ActivityFailure &&
    error.cause instanceof TimeoutFailure &&
    error.cause.timeoutType === 'SCHEDULE_TO_START'
  );
}
