/**
 * Aborts after `timeoutMs`, rounded up: users may give fractions of a second, and the timer needs whole milliseconds.
 */
export function deadlineSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(timeoutMs));
}
