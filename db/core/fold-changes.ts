import type { Transaction } from 'kysely';
import { withAdvisoryLock, type LockName } from './advisory-lock.js';
import type { Database } from './client.js';
import type { Tables } from './tables.js';

export const FOLDED_AT_ONCE = 20_000;

/**
 * Folds all committed changes into their sums: adds each change to its sum, and deletes the row of the change.
 * `foldSome` folds up to `FOLDED_AT_ONCE` changes in one statement and returns their number. Does nothing while another
 * process is folding (ADR 8). Folds no further changes once `stopped` is aborted; those that are left are folded later.
 */
export async function foldAll(
  db: Database,
  lock: LockName,
  foldSome: (transaction: Transaction<Tables>) => Promise<number>,
  stopped?: AbortSignal,
): Promise<void> {
  for (;;) {
    const folded = await withAdvisoryLock(db, lock, foldSome);
    if (folded === undefined || folded < FOLDED_AT_ONCE || stopped?.aborted === true) return;
  }
}
