// Lists the requests of runs to people, for the callers of these runs.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { isoText } from '../core/iso-text.js';

/** A pending approval or human task, or a connection that needs a sign-in. */
export interface OpenRequest {
  kind: 'approval' | 'human_task' | 'sign_in';
  /** The last part of the address of the approval or task in the inbox; for a sign-in, the id of the connection. */
  id: string;
  /** The tool that waits for approval; null for the other kinds. */
  tool: string | null;
  /** Secrets masked: the arguments of the tool as JSON text, the message of the task, or the name of the connection. */
  text: string;
  expiresAt: string;
}

const MOST = 20;

/** Returns the oldest open requests of the run and of the open runs below it, up to `MOST`. */
export async function findOpenRequests(db: Db, runId: string): Promise<OpenRequest[]> {
  const { rows } = await sql<OpenRequest>`
    WITH RECURSIVE below AS (
      SELECT run.id FROM runs AS run WHERE run.id = ${runId} AND run.status = 'In Progress'
      UNION ALL
      SELECT child.id FROM runs AS child JOIN below ON child.parent_run_id = below.id AND child.status = 'In Progress'
    )
    SELECT kind, id, tool, text, "expiresAt" FROM (
      SELECT 'approval' AS kind, request.request_id AS id, request.tool_name AS tool,
        coalesce(request.edited_arguments, request.arguments)::text AS text, request.created_at,
        ${isoText(sql`request.expires_at`)} AS "expiresAt"
      FROM below JOIN approval_requests AS request ON request.run_id = below.id
      WHERE request.status = 'pending' AND request.expires_at > now()
      UNION ALL
      SELECT 'human_task', task.task_id::text, NULL, task.message, task.created_at, ${isoText(sql`task.expires_at`)}
      FROM below JOIN human_tasks AS task ON task.run_id = below.id
      WHERE task.status = 'pending' AND task.expires_at > now()
      UNION ALL
      SELECT 'sign_in', connection.id::text, NULL, connection.name, min(wait.started_at), ${isoText(sql`max(wait.until)`)}
      FROM below
      JOIN waits AS wait ON wait.run_id = below.id AND wait.kind = 'connection' AND wait.closed_at IS NULL
      JOIN connections AS connection ON connection.id = wait.connection_id
      WHERE wait.until > now()
      GROUP BY connection.id
    ) AS open ORDER BY created_at, id LIMIT ${sql.lit(MOST)}`.execute(db);
  return rows;
}
