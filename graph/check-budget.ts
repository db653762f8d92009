// Bounds what one validation spends on checks that cost far more than the characters they read: compiling patterns, and
// comparing schemas with the schema of schemas. A drawing of a legal size can hold a hundred thousand of them.

/** In instructions of compiled patterns; a character counts as at least one. */
const UNITS = 10_000;

let left: number | undefined;

/** While `work` runs (it must be synchronous), `takeFromBudget` shares one budget. */
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
