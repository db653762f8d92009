import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

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
  // If the activity has not reported a failure itself, Temporal has given up on it (a timeout).
  return error instanceof ActivityFailure ? 'timeout' : 'internal_error';
}
