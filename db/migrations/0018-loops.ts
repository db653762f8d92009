import { sql, type Kysely } from 'kysely';

/** Loops: their iterations, and the items of those over lists. Extensions, sections 1.2 and 1.3. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // An iteration is a row beside those of its nodes: with their path, and the node id of its loop. So it is counted in the
  // version of its run, closed with it and emptied with it, like a node.
  `ALTER TABLE node_results ADD COLUMN iterations integer, ADD COLUMN is_iteration boolean NOT NULL DEFAULT false`,
  `CREATE INDEX node_results_iterations ON node_results (run_id, node_id, path) WHERE is_iteration`,
  `CREATE TABLE loop_items (
    run_id uuid NOT NULL REFERENCES runs (id),
    path text NOT NULL DEFAULT '',
    node_id text NOT NULL,
    index integer NOT NULL,
    item_enc bytea NOT NULL,
    PRIMARY KEY (run_id, path, node_id, index)
  )`,
];
