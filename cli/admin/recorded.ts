import type { Transaction } from 'kysely';
import { SYSTEM } from '../../db/audit/audit-entry.js';
import { recordChange, type RecordedChange } from '../../db/audit/record-change.js';
import type { Tables } from '../../db/core/tables.js';
import type { AdminContext } from './context.js';

/** Runs a command's change and stores its audit record in the same transaction. */
export function recorded<T>(
  { db }: Pick<AdminContext, 'db'>,
  change: Omit<RecordedChange<T>, 'doer'>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return recordChange(db, { ...change, doer: SYSTEM }, work);
}

/** The options of changes that create an object. */
export const creation = { isMade: true, keyOf: ({ id }: { id: number }) => ({ id }) };
