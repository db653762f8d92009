import { sql } from 'kysely';

/**
 * As one more column of a statement that is a transaction by itself: its commit is not waited for to reach the disk, and
 * the next one that is takes it along. For what may be forgotten when the database's machine dies within a second.
 */
export const lazily = sql`set_config('synchronous_commit', 'off', true) AS lazily`;
