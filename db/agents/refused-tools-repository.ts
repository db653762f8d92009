// Tools of MCP servers that cannot be offered to the agents of a drawing, as the last listing found them.
import { sql, type RawBuilder } from 'kysely';
import { writeJson } from '../../graph/json-text.js';
import type { Db } from '../core/client.js';

/**
 * A tool that cannot be offered. `name` comes from the server, masked and cut. `reason` is a fixed sentence of ours
 * (outgoing/mcp-tools.ts).
 */
export interface RefusedTool {
  /** Empty if the tool has no name. */
  name: string;
  reason: string;
}

interface FoundOnServer {
  nodeId: string;
  serverLabel: string;
  tools: RefusedTool[];
}

type Refused = ReadonlyMap<string, RefusedTool[]>;

/** Stores the result of a listing for an agent of this drawing, unless a newer version exists. */
export function storeRefusedTools(
  db: Db,
  { workflowId, version, nodeId }: { workflowId: number; version: number; nodeId: string },
  refused: Refused,
): Promise<void> {
  const place = sql`SELECT id, version FROM workflows
    WHERE id = ${workflowId} AND version = ${version} AND archived_at IS NULL`;
  return store(db, place, nodeId, refused);
}

/** Stores the result of a run's listing, if its drawing is the current version of the workflow. */
export function storeRefusedToolsOfRun(
  db: Db,
  { runId, nodeId }: { runId: string; nodeId: string },
  refused: Refused,
): Promise<void> {
  const place = sql`SELECT workflow.id, workflow.version FROM workflows AS workflow
    JOIN runs ON runs.workflow_id = workflow.id AND runs.workflow_version = workflow.version
    WHERE runs.id = ${runId}::uuid AND workflow.archived_at IS NULL`;
  return store(db, place, nodeId, refused);
}

/**
 * `refused` has the refused tools by the label of their server; an empty list means that every tool of that server can
 * be offered. Replaces what earlier listings found for these servers and this node, and deletes what was found for
 * earlier versions. Does nothing if `refused` has no server.
 */
async function store(db: Db, place: RawBuilder<unknown>, nodeId: string, refused: Refused): Promise<void> {
  if (refused.size === 0) return;
  const wrong = [...refused].filter(([, tools]) => tools.length > 0);
  const right = [...refused].filter(([, tools]) => tools.length === 0).map(([label]) => label);
  await sql`
    DELETE FROM refused_tools AS known USING (${place}) AS place
    WHERE known.workflow_id = place.id AND (known.version < place.version
      OR known.version = place.version AND known.node_id = ${nodeId} AND known.server_label = ANY (${right}::text[]))`.execute(
    db,
  );
  if (wrong.length === 0) return;
  await sql`
    INSERT INTO refused_tools AS known (workflow_id, version, node_id, server_label, tools)
    SELECT place.id, place.version, ${nodeId}, found.label, found.tools::json
    FROM (${place}) AS place, unnest(${wrong.map(([label]) => label)}::text[],
      ${wrong.map(([, tools]) => writeJson(tools))}::text[]) AS found (label, tools)
    ORDER BY found.label
    ON CONFLICT (workflow_id, version, node_id, server_label) DO UPDATE SET tools = EXCLUDED.tools
      WHERE known.tools::text <> EXCLUDED.tools::text`.execute(db);
}

export async function listRefusedTools(db: Db, workflowId: number, version: number): Promise<FoundOnServer[]> {
  const rows = await db
    .selectFrom('refused_tools')
    .select(['node_id as nodeId', 'server_label as serverLabel', 'tools'])
    .where('workflow_id', '=', workflowId)
    .where('version', '=', version)
    .orderBy('node_id')
    .orderBy('server_label')
    .execute();
  return rows.map((row) => ({ ...row, tools: row.tools as RefusedTool[] }));
}
