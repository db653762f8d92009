// How far the API is with sealing credential headers of drawings that earlier builds have stored.
import type { Db } from '../core/client.js';
import type { SealingSubject } from '../core/tables.js';

export interface Sealing {
  subject: SealingSubject;
  /** The primary key of the last row that was looked at, as a JSON list; null at the beginning. */
  after: string | null;
}

/**
 * Returns the table whose rows come next; undefined if every table is done. Versions are made of workflows, and graphs of
 * both, so each table comes after those that its rows are made of.
 */
export function findSealing(db: Db): Promise<Sealing | undefined> {
  return db
    .selectFrom('header_sealing')
    .select(['subject', 'after'])
    .where('is_done', '=', false)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
}

/** Notes the last row that was looked at; null means that there are no more. */
export async function noteSealing(db: Db, subject: SealingSubject, after: string | null): Promise<void> {
  await db
    .updateTable('header_sealing')
    .set(after === null ? { is_done: true } : { after })
    .where('subject', '=', subject)
    .execute();
}

/** Begins again with the first row of each table: an earlier build is writing. */
export async function restartSealing(db: Db): Promise<void> {
  await db
    .updateTable('header_sealing')
    .set({ after: null, is_done: false })
    .where((row) => row.or([row('is_done', '=', true), row('after', 'is not', null)]))
    .execute();
}
