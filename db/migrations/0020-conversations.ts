import { sql, type Kysely } from 'kysely';

/** Workflows that people talk to. Extensions, section 13. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of workflows) await sql.raw(statement).execute(db);
}

const workflows = [
  `ALTER TABLE workflows ADD COLUMN is_chat boolean NOT NULL DEFAULT false`,
  `CREATE INDEX workflows_chats ON workflows (project_id, id) WHERE is_chat AND archived_at IS NULL`,
];
