import { sql, type Kysely } from 'kysely';

/** The runs that MCP clients have begun as tasks, for their list. Extensions, section 13. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tasks) await sql.raw(statement).execute(db);
}

const tasks = [
  `CREATE TABLE tool_tasks (
    user_id integer NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    run_id uuid NOT NULL REFERENCES runs (id),
    PRIMARY KEY (user_id, created_at, run_id)
  )`,
  `CREATE INDEX tool_tasks_of ON tool_tasks (run_id)`,
];
