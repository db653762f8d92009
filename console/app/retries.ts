/** A person waits: what does not succeed within about two seconds is told, with a button to try again. */
export const CALL_RETRIES = { maxAttempts: 3, firstDelayMs: 300, longestRetryAfterMs: 1_000 };
