import { sql, type Kysely } from 'kysely';

/** Runs of sub-workflows: runs that nodes of other runs start. Extensions, section 1.2. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE runs
    ADD COLUMN passed_secrets_enc bytea,
    ADD COLUMN parent_run_id uuid REFERENCES runs (id),
    ADD COLUMN parent_path text,
    ADD COLUMN parent_node_id text,
    ADD COLUMN root_run_id uuid,
    ADD COLUMN depth integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT runs_parent CHECK (num_nulls(parent_run_id, parent_path, parent_node_id, root_run_id)
      = CASE depth WHEN 0 THEN 4 ELSE 0 END)`,
  // What a run has cost with the runs below it, and how many there are below the first one.
  `CREATE INDEX runs_children ON runs (parent_run_id) INCLUDE (cost_usd) WHERE parent_run_id IS NOT NULL`,
  `CREATE INDEX runs_below_root ON runs (root_run_id) WHERE root_run_id IS NOT NULL`,
  // Deferred: the wait is claimed before the run is inserted, so that an attempt that comes second inserts nothing.
  // An agent waits for as many runs as it has called such tools.
  `ALTER TABLE waits
    ADD COLUMN call integer NOT NULL DEFAULT 0,
    DROP CONSTRAINT waits_pkey,
    ADD PRIMARY KEY (run_id, path, node_id, call),
    ADD COLUMN child_run_id uuid REFERENCES runs (id) DEFERRABLE INITIALLY DEFERRED,
    ADD CONSTRAINT waits_child CHECK ((kind = 'child') = (child_run_id IS NOT NULL))`,
];
