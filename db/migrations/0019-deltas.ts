import { sql, type Kysely } from 'kysely';

/** The words of models while they write, for who reads them. Extensions, section 13. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // Whether the process that watches the run also wants its deltas.
  `ALTER TABLE run_watches ADD COLUMN deltas boolean NOT NULL DEFAULT false`,
  // Unlogged, because a node's result has all of it again. A node's rows are deleted with its end, so the table is small.
  `CREATE UNLOGGED TABLE run_deltas (
    run_id uuid NOT NULL,
    path text NOT NULL,
    node_id text NOT NULL,
    attempt integer NOT NULL,
    step integer NOT NULL,
    number integer NOT NULL,
    body text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, path, node_id, attempt, step, number)
  )`,
];
