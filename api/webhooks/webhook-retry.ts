const DAY_SECONDS = 86_400;
const JITTER = 0.1;

interface FailedAttempt {
  attempts: number;
  /** The delay that the receiver requested by `Retry-After`. */
  retryAfterMs: number | undefined;
}

/**
 * Returns the seconds until the next attempt; undefined if none is left. Up to a tenth is added at random, so that
 * events that failed together are not retried together. A receiver may request a longer delay, up to a day.
 */
export function nextDelaySeconds(
  schedule: number[],
  { attempts, retryAfterMs = 0 }: FailedAttempt,
): number | undefined {
  const planned = schedule[attempts - 1];
  if (planned === undefined) return undefined;
  const asked = Math.min(retryAfterMs / 1000, DAY_SECONDS);
  return Math.max(planned, asked) * (1 + JITTER * Math.random());
}
