import { sql, type Kysely } from 'kysely';

/** The versions of a drawing, and which of them a run has executed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE workflows
    ADD COLUMN version integer NOT NULL DEFAULT 1 CHECK (version > 0),
    ADD COLUMN version_author_id integer REFERENCES users (id),
    ADD COLUMN version_created_at timestamptz NOT NULL DEFAULT now(),
    ADD COLUMN revision integer NOT NULL DEFAULT 1`,
  // The versions before the present one, which is in `workflows` alone: a drawing is stored once.
  `CREATE TABLE workflow_versions (
    workflow_id integer NOT NULL REFERENCES workflows (id),
    version integer NOT NULL CHECK (version > 0),
    author_id integer NOT NULL REFERENCES users (id),
    document json NOT NULL,
    secrets_enc bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workflow_id, version)
  )`,
  `ALTER TABLE runs ADD COLUMN workflow_version integer NOT NULL DEFAULT 1`,
  // With the status, by which the list over all workflows filters.
  `DROP INDEX runs_history`,
  `DROP INDEX runs_history_cost`,
  `CREATE INDEX runs_history ON runs (workflow_id, created_at, id) INCLUDE (status)`,
  `CREATE INDEX runs_history_cost ON runs (workflow_id, cost_usd, id) INCLUDE (status)`,
];
