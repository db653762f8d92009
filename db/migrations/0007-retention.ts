import { sql, type Kysely } from 'kysely';

/** What expiring results needs: what has expired, what is left to delete of it, and indexes to find both by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE runs
    ADD COLUMN results_expired_at timestamptz,
    ADD COLUMN is_purge_pending boolean NOT NULL DEFAULT false,
    ADD COLUMN is_input_lost boolean NOT NULL DEFAULT false,
    ADD COLUMN stuck_since timestamptz`,
  // Pinned runs are not in it, however old they grow: no round looks at them again.
  `CREATE INDEX runs_to_expire ON runs (run_finished_at)
    WHERE run_finished_at IS NOT NULL AND results_expired_at IS NULL
      AND NOT is_api_run AND NOT use_in_marketplace_example AND NOT use_as_marketplace_template`,
  `CREATE INDEX runs_to_purge ON runs (results_expired_at) WHERE is_purge_pending`,
  `CREATE INDEX runs_stuck ON runs (stuck_since) WHERE status = 'In Progress' AND stuck_since IS NOT NULL`,
  // Whether a graph or an approval is still referred to: asked by retention, and by the foreign key on each deletion.
  `CREATE INDEX runs_snapshot ON runs (snapshot_hash)`,
  `CREATE INDEX workflows_published_snapshot ON workflows (published_snapshot) WHERE published_snapshot IS NOT NULL`,
  `CREATE INDEX agent_tool_calls_request ON agent_tool_calls (request_id) WHERE request_id IS NOT NULL`,
];
