/** Aborts after `timeoutMs`, of any fraction: seconds that users give times 1000 are seldom whole, and the timer wants them so. */
export function deadlineSignal(timeoutMs: number): AbortSignal {
  return AbortSignal.timeout(Math.ceil(timeoutMs));
}
