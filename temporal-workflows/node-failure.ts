import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The failure that an activity ended with by itself; undefined when Temporal gave up on it. A local one comes unwrapped. */
export function nodeFailureOf(error: unknown): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure ? failure : undefined;
}

/** The code that the run and its node end with. */
export function failureCode(error: unknown): string {
  const failure = nodeFailureOf(error);
  if (failure !== undefined) return failure.type ?? 'internal_error';
  // No failure of ours means that Temporal gave up on the activity (time-outs).
  return error instanceof ActivityFailure ? 'timeout' : 'internal_error';
}
