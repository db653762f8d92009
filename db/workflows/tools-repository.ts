// Workflows that MCP clients are offered as tools.
import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../core/client.js';
import type { Scope } from '../projects/scope.js';
import { memberWorkflows } from './workflows-repository.js';

export interface ToolWorkflow {
  id: number;
  title: string;
  is_tool: boolean;
  short_description: string;
  /** Of the drawing no more than what its input fields are read from; null where those are too large. */
  start: Record<string, unknown> | null;
}

/** A page of tools has many of them. */
const MAX_START_BYTES = 256 * 1024;

/** Those that the user may run, by id, after the one with the id `after`. */
export function listTools(
  db: Db,
  scope: Scope,
  { after, limit }: { after: number; limit: number },
): Promise<ToolWorkflow[]> {
  return runnableTools(db, scope).where('workflows.id', '>', after).orderBy('workflows.id').limit(limit).execute();
}

/** Undefined where there is no such tool for the user. */
export function findTool(db: Db, scope: Scope, workflowId: number): Promise<ToolWorkflow | undefined> {
  return runnableTools(db, scope).where('workflows.id', '=', workflowId).executeTakeFirst();
}

/** What would be offered of a workflow that the caller may see, whether it is a tool or not. */
export function findToolFacts(db: Db, scope: Scope, workflowId: number): Promise<ToolWorkflow | undefined> {
  return selectTool(memberWorkflows(db, scope)).where('workflows.id', '=', workflowId).executeTakeFirst();
}

function runnableTools(db: Db, scope: Scope) {
  return selectTool(memberWorkflows(db, scope))
    .where('workflows.is_tool', '=', true)
    .where('project_members.role', '!=', 'viewer');
}

function selectTool(query: ReturnType<typeof memberWorkflows>) {
  return query.select([
    'workflows.id',
    'workflows.title',
    'workflows.is_tool',
    'workflows.short_description',
    start.as('start'),
  ]);
}

/** The drawing with the one node that `inputFieldsOf` takes (graph/input.ts): the start, or else the first trigger. */
const start: RawBuilder<Record<string, unknown> | null> = sql`(
  SELECT CASE WHEN octet_length(node::text) <= ${sql.lit(MAX_START_BYTES)}
    THEN json_build_object('start_node', workflows.document -> 'start_node', 'nodes', json_build_array(node)) END
  FROM json_array_elements(CASE WHEN json_typeof(workflows.document -> 'nodes') = 'array' THEN workflows.document -> 'nodes' ELSE '[]' END)
    WITH ORDINALITY AS drawn (node, ordinal)
  CROSS JOIN LATERAL (SELECT json_typeof(node -> 'id') = 'string' AND json_typeof(workflows.document -> 'start_node') = 'string'
    AND node ->> 'id' = workflows.document ->> 'start_node' AS is_start) AS judged
  WHERE json_typeof(node) = 'object' AND (is_start OR node ->> 'type' = 'trigger-node')
  ORDER BY is_start IS TRUE DESC, ordinal LIMIT 1
)`;
