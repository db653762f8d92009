import type { Transaction } from 'kysely';
import { SYSTEM } from '../../db/audit/audit-entry.js';
import { recordChange, type RecordedChange } from '../../db/audit/record-change.js';
import type { Tables } from '../../db/core/tables.js';
import type { AdminContext } from './context.js';

/** Runs a command's change and stores its record in the audit log in one transaction. */
export function recorded<T>(
  { db }: Pick<AdminContext, 'db'>,
  change: Omit<RecordedChange<T>, 'doer'>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return recordChange(db, { ...change, doer: SYSTEM }, work);
}

/** The object that a command has made. */
export const made = { isMade: true, keyOf: ({ id }: { id: number }) => ({ id }) };
