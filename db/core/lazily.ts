import { sql } from 'kysely';

/**
 * Stands as one more column of a statement that is a transaction by itself, and commits it with `synchronous_commit`
 * off: the next durable commit flushes it. It suits facts that may be forgotten when the database's machine dies within
 * a second.
 */
export const lazily = sql`set_config('synchronous_commit', 'off', true) AS lazily`;
