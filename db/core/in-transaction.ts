import type { Transaction } from 'kysely';
import type { Db } from './client.js';
import type { Tables } from './tables.js';

/** Runs `work` in the caller's transaction if `db` is one, else in a new transaction. */
export function inTransaction<T>(db: Db, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db as Transaction<Tables>) : db.transaction().execute(work);
}
