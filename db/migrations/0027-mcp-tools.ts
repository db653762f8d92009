import { sql, type Kysely } from 'kysely';

/** Workflows that MCP clients are offered as tools. Extensions, section 6. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  `ALTER TABLE workflows ADD COLUMN is_tool boolean NOT NULL DEFAULT false`,
  // What its trigger takes, written with the drawing of a workflow that is a tool.
  `ALTER TABLE workflows ADD COLUMN tool_fields json`,
  `CREATE INDEX workflows_tools ON workflows (project_id, id) WHERE is_tool AND archived_at IS NULL`,
  // A call that was cancelled before its run was accepted has its key, and no run.
  `ALTER TABLE idempotency_keys ALTER COLUMN run_id DROP NOT NULL`,
];
