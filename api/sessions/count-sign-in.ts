import type { SignInMethod } from '../../db/core/tables.js';
import { ApiError } from '../http/errors.js';
import type { Metrics } from '../observability/metrics.js';

/** Names the user whose account a sign-in is for, in its audit record. */
export const signedIn = {
  keyOf: ({ userId }: { userId: number }) => ({ id: userId }),
  userOf: ({ userId }: { userId: number }) => userId,
};

/** Runs a sign-in and counts how it ended. */
export async function countSignIn<T>(metrics: Metrics, method: SignInMethod, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    metrics.signIns.inc({ method, outcome: 'done' });
    return result;
  } catch (error) {
    metrics.signIns.inc({ method, outcome: outcomeOf(error) });
    throw error;
  }
}

function outcomeOf(error: unknown): 'refused' | 'throttled' | 'failed' {
  if (!(error instanceof ApiError) || error.status >= 500) return 'failed';
  return error.status === 429 ? 'throttled' : 'refused';
}
