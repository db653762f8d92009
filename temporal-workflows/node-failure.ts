import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

/** The failure that an activity ended with by itself; undefined when Temporal gave up on it. A local one comes unwrapped. */
export function nodeFailureOf(error: unknown): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure ? failure : undefined;
}
