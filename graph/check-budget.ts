// Bounds the time of one validation for checks that cost far more than the characters they read: compiling patterns,
// and checking schemas against the meta-schema. A drawing of legal size can contain a hundred thousand of them.

/** The budget in instructions of compiled patterns. A character counts as at least one. */
const UNITS = 10_000;

let left: number | undefined;

/** Gives all calls of `spendBudget` during `work` one shared budget. `work` must be synchronous. */
export function withCheckBudget<T>(work: () => T): T {
  const outer = left;
  left = outer ?? UNITS;
  try {
    return work();
  } finally {
    left = outer === undefined ? undefined : left;
  }
}

/** True if the check may be made. Outside `withCheckBudget` it always may. */
export function spendBudget(units: number): boolean {
  if (left === undefined) return true;
  if (left < units) return false;
  left -= units;
  return true;
}
