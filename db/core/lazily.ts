import { sql } from 'kysely';

/**
 * A column to add to a statement that is a whole transaction. It commits with `synchronous_commit` off; the next
 * durable commit flushes it. Use it for facts that may be lost if the database's machine dies within a second.
 */
export const lazily = sql`set_config('synchronous_commit', 'off', true) AS lazily`;
