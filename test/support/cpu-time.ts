import assert from 'node:assert/strict';

/**
 * Milliseconds of processor time that this process uses until `work` has settled, without the time of other processes.
 */
export async function cpuMillisecondsUntil(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Milliseconds of processor time that `work` takes, without the time of other processes. */
export function cpuMilliseconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Asserts that `large` costs at most `limit` times as many milliseconds as `small`. Garbage collection and compilation
 * add to the cost of some rounds, so the cheapest of at most eight rounds counts for each size. A cost of `small` below
 * `leastMs` counts as `leastMs`.
 */
export async function assertCostRatio<T>(
  costOf: (size: T) => number | Promise<number>,
  { small, large, limit, leastMs = 5 }: { small: T; large: T; limit: number; leastMs?: number },
): Promise<void> {
  const least = { small: Infinity, large: Infinity };
  for (let round = 0; round < 8; round += 1) {
    least.small = Math.min(least.small, await costOf(small));
    least.large = Math.min(least.large, await costOf(large));
    if (least.large <= limit * Math.max(least.small, leastMs)) return;
  }
  assert.fail(`${least.large} ms, ${limit} times ${least.small} ms is the limit`);
}
