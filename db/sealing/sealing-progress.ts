// How far the API is with sealing credential headers of drawings that earlier builds have stored.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { SealingSubject } from '../core/tables.js';

export interface Sealing {
  subject: SealingSubject;
  /** The primary key of the last row that was looked at, as a JSON list; null at the beginning. */
  after: string | null;
}

/**
 * Returns the table whose rows come next; undefined if there is none now. Versions are made of workflows, and graphs of
 * both, so each table comes after those that its rows are made of. Graphs come a minute later: a run that was being
 * accepted with the earlier drawing has stored its graph by then.
 */
export function findSealing(db: Db): Promise<Sealing | undefined> {
  return db
    .selectFrom('header_sealing')
    .select(['subject', 'after'])
    .where('done_at', 'is', null)
    .where(
      sql<boolean>`(subject <> 'graph_snapshots'
        OR NOT EXISTS (SELECT FROM header_sealing WHERE done_at > now() - interval '1 minute'))`,
    )
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst();
}

/** Returns whether the rows of every table have been looked at. */
export async function isSealingDone(db: Db): Promise<boolean> {
  const left = await db
    .selectFrom('header_sealing')
    .select('subject')
    .where('done_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return left === undefined;
}

/** Notes the last row that was looked at; null means that there are no more. */
export async function noteSealing(db: Db, subject: SealingSubject, after: string | null): Promise<void> {
  await db
    .updateTable('header_sealing')
    .set(after === null ? { done_at: sql<Date>`now()` } : { after })
    .where('subject', '=', subject)
    .execute();
}

/** Begins again with the first row of each table: an earlier build is writing. */
export async function restartSealing(db: Db): Promise<void> {
  await db
    .updateTable('header_sealing')
    .set({ after: null, done_at: null })
    .where((row) => row.or([row('done_at', 'is not', null), row('after', 'is not', null)]))
    .execute();
}
