import { sql, type Kysely } from 'kysely';

/**
 * Which node gave a run its output: the first output node whose end was recorded. The key decides between several that
 * end at the same time, and the row is never changed, so that an output which was shown once stays the same.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      // The value is not stored twice: it stands in the node's result, from this character of the text up to the last
      // brace.
      `CREATE TABLE run_outputs (
        run_id uuid PRIMARY KEY REFERENCES runs (id),
        path text NOT NULL DEFAULT '',
        node_id text NOT NULL,
        value_start integer NOT NULL CHECK (value_start > 0)
      )`,
    )
    .execute(db);
}
