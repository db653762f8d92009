import { sql, type Kysely } from 'kysely';

/**
 * What is left to seal of drawings that earlier builds have stored: credential headers of HTTP nodes, and those whose
 * names are now known. The key is not in the database, so the API seals them (api/background/seal-headers.ts), and this
 * is how far it is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // `after`: the primary key of the last row that was looked at, as a JSON list; null at the beginning.
  `CREATE TABLE header_sealing (
    subject text PRIMARY KEY CHECK (subject IN ('workflows', 'workflow_versions', 'graph_snapshots')),
    ordinal integer NOT NULL UNIQUE,
    after text,
    done_at timestamptz
  )`,
  `INSERT INTO header_sealing (subject, ordinal)
    VALUES ('workflows', 1), ('workflow_versions', 2), ('graph_snapshots', 3)`,
  // Graphs with credentials that runs still refer to.
  `CREATE TABLE unsealed_graphs (hash bytea PRIMARY KEY REFERENCES graph_snapshots (hash) ON DELETE CASCADE)`,
  // A sealed value is larger than the value. Nobody has asked for it, so it is not refused for the quota.
  `CREATE OR REPLACE FUNCTION refuse_beyond_quota(of_project integer, added bigint) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF added > 0 AND coalesce(current_setting('workflow_service.is_sealing', true), '') <> 'on' AND EXISTS (
      SELECT FROM stored_bytes_limit
      WHERE bytes < added + coalesce((SELECT kept.bytes FROM stored_bytes kept WHERE project_id = of_project), 0)
    ) THEN
      RAISE EXCEPTION 'the project would store more than it may' USING ERRCODE = 'QB413';
    END IF;
  END $$`,
];
