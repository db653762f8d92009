// The tools of an agent, which are listed at its first turn and then stored. The API reads them to check arguments that a
// person has changed.
import { sql } from 'kysely';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import { keyColumns } from '../nodes/key-columns.js';

export interface AgentTool {
  /** The name that the model sees. It is unique over all servers and has only characters that providers accept. */
  name: string;
  serverLabel: string;
  toolName: string;
  description: string;
  /** The JSON Schema of the arguments, as the server has given it, or from the fields of the workflow's trigger. */
  parameters: Record<string, unknown>;
  needsApproval: boolean;
  /** The workflow of a tool that is one. It has no server: `serverLabel` is empty. */
  workflowId?: number;
}

/**
 * Returns the tools that an earlier attempt has stored, or else those given now. `maxCostUsd` is the limit of the agent, which
 * also holds for the runs that its tools start.
 */
export async function keepTools(
  db: Db,
  secretBox: SecretBox,
  { runId, path, nodeId }: NodeKey,
  { tools, maxCostUsd }: { tools: AgentTool[]; maxCostUsd: string | null },
): Promise<AgentTool[]> {
  const toolsEnc = secretBox.seal(JSON.stringify(tools), 'agent-tools', runId, path, nodeId);
  const { rows } = await sql<{ toolsEnc: Buffer }>`
    INSERT INTO agent_sessions AS session (run_id, path, node_id, tools_enc, max_cost_usd)
    VALUES (${runId}, ${path}, ${nodeId}, ${toolsEnc}, ${maxCostUsd})
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET tools_enc = session.tools_enc
    RETURNING tools_enc AS "toolsEnc"`.execute(db);
  return open(secretBox, rows[0]!.toolsEnc, { runId, path, nodeId });
}

/** Returns undefined before the first turn of the agent, and once its contents have expired. */
export async function findTools(db: Db, secretBox: SecretBox, key: NodeKey): Promise<AgentTool[] | undefined> {
  const found = await db
    .selectFrom('agent_sessions')
    .select('tools_enc')
    .where((row) => row.and(keyColumns(key)))
    .executeTakeFirst();
  return found && open(secretBox, found.tools_enc, key);
}

function open(secretBox: SecretBox, sealed: Buffer, { runId, path, nodeId }: NodeKey): AgentTool[] {
  return JSON.parse(secretBox.open(sealed, 'agent-tools', runId, path, nodeId)) as AgentTool[];
}
