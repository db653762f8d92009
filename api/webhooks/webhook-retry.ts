const DAY_SECONDS = 86_400;
const JITTER = 0.1;

export interface FailedAttempt {
  /** How many there have been. */
  attempts: number;
  /** What the receiver asked for by `Retry-After`. */
  retryAfterMs: number | undefined;
}

/**
 * Seconds until the next attempt; undefined when there is none. Up to a tenth is added by chance, so that events that
 * failed together do not come back together. A receiver may ask for a longer wait, a day at most.
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
