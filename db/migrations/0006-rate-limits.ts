import { sql, type Kysely } from 'kysely';

/**
 * How many requests each API key has made in its current minute. Unlogged: a row lives for a minute, is written with
 * every request and must cost no disk write. A crash of the database empties the table, and all windows begin anew. No
 * foreign key: it would make the first request of a key wait for, or fail with, the key's deletion.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE UNLOGGED TABLE rate_limits (
    key_id integer PRIMARY KEY,
    window_ends_at timestamptz NOT NULL,
    requests integer NOT NULL
  ) WITH (fillfactor = 50)`.execute(db);
}
