import { sql, type Kysely } from 'kysely';

/** The tools of MCP servers that agents cannot be offered, as the last listing found them: `check_workflow` asks no server. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

const statements = [
  // A row for each server of an agent whose list holds such a tool, for the present version of the drawing.
  `CREATE TABLE refused_tools (
    workflow_id integer NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
    version integer NOT NULL,
    node_id text NOT NULL,
    server_label text NOT NULL,
    tools json NOT NULL,
    PRIMARY KEY (workflow_id, version, node_id, server_label)
  )`,
];
