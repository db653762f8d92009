// Bounds what one validation spends on checks that cost far more than the characters they read: compiling patterns, and
// comparing schemas with the schema of schemas. A drawing of a legal size can hold a hundred thousand of them.

/** The budget is counted in instructions of compiled patterns. A character counts as at least one. */
const UNITS = 10_000;

let left: number | undefined;

/** All calls of `takeFromBudget` share one budget while `work` runs, which must be synchronous. */
export function withCheckBudget<T>(work: () => T): T {
  const outer = left;
  left = outer ?? UNITS;
  try {
    return work();
  } finally {
    left = outer === undefined ? undefined : left;
  }
}

/** Returns whether the check may be made. Outside `withCheckBudget` it always may. */
export function takeFromBudget(units: number): boolean {
  if (left === undefined) return true;
  if (left < units) return false;
  left -= units;
  return true;
}
