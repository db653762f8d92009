// Bounds the time of one validation for checks that cost far more than the characters they read: compiling patterns,
// and checking schemas against the meta-schema. A drawing of legal size can contain a hundred thousand of them.

/** The budget. One unit is the time in which one instruction of a pattern is compiled. */
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

/**
 * Takes `units` from the budget. Returns false if too few are left, so the check must be skipped. Always returns true
 * outside `withCheckBudget`.
 */
export function spendBudget(units: number): boolean {
  if (left === undefined) return true;
  if (left < units) return false;
  left -= units;
  return true;
}
