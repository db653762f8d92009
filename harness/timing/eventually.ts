export interface EventuallyOptions {
  /** The time limit. The default of 60 s only detects hanging, because a busy machine may be ten times slower. */
  timeoutMs?: number;
  /** The pause between two attempts. By default it grows from 25 to 200 ms, so that long waits cause few attempts. */
  intervalMs?: number;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 200;

/**
 * Retries `probe` until it returns something other than `false` or `undefined` without throwing, and returns that.
 * After the time limit it rejects with the probe's last error.
 */
export async function eventually<T>(
  probe: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs }: EventuallyOptions = {},
): Promise<Exclude<T, false | undefined>> {
  const deadline = performance.now() + timeoutMs;
  for (
    let pauseMs = intervalMs ?? FIRST_PAUSE_MS;
    ;
    pauseMs = intervalMs ?? Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)
  ) {
    let failure: unknown;
    try {
      const value = await probe();
      if (value !== false && value !== undefined) return value as Exclude<T, false | undefined>;
      failure = new Error(`The condition did not hold within ${timeoutMs} ms`);
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline) throw failure;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
