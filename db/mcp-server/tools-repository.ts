// Workflows that are offered as tools to MCP clients.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { Reach } from '../access/reach.js';
import { toolFieldsOf } from '../workflows/tool-fields.js';
import { memberWorkflows } from '../workflows/workflows-repository.js';

export interface ToolWorkflow {
  id: number;
  title: string;
  is_tool: boolean;
  short_description: string;
  /** The `input_fields` of its trigger; null if they are too large. */
  fields: unknown;
}

/** Lists the tools that the user may run, ordered by id, after the id `after`. */
export function listTools(
  db: Db,
  reach: Reach,
  { after, limit }: { after: number; limit: number },
): Promise<ToolWorkflow[]> {
  return runnableTools(db, reach).where('workflows.id', '>', after).orderBy('workflows.id').limit(limit).execute();
}

export function findTool(db: Db, reach: Reach, workflowId: number): Promise<ToolWorkflow | undefined> {
  return runnableTools(db, reach).where('workflows.id', '=', workflowId).executeTakeFirst();
}

/** Returns the facts of a workflow in reach as if it were offered as a tool. */
export function findToolFacts(db: Db, reach: Reach, workflowId: number): Promise<ToolWorkflow | undefined> {
  return selectTool(memberWorkflows(db, reach))
    .select(toolFieldsOf(sql.ref('workflows.document')).as('fields'))
    .where('workflows.id', '=', workflowId)
    .executeTakeFirst();
}

function runnableTools(db: Db, reach: Reach) {
  return selectTool(memberWorkflows(db, reach))
    .select('workflows.tool_fields as fields')
    .where('workflows.is_tool', '=', true)
    .where('project_members.role', '!=', 'viewer');
}

function selectTool(query: ReturnType<typeof memberWorkflows>) {
  return query.select(['workflows.id', 'workflows.title', 'workflows.is_tool', 'workflows.short_description']);
}
