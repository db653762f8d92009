// The tools of an agent, listed at its first turn and then stored. The API reads them to validate arguments that a
// person has changed.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
import type { NodeKey } from '../../graph/plan.js';
import type { Db } from '../core/client.js';
import type { SecretBox } from '../core/secret-box.js';
import { keyColumns } from '../nodes/key-columns.js';

export interface AgentTool {
  /** The name for the model: unique among the tools of the agent, in characters that providers accept. */
  name: string;
  serverLabel: string;
  toolName: string;
  description: string;
  /** The JSON Schema of the arguments: from the server, the workflow's trigger or the action's fields. */
  parameters: Record<string, unknown>;
  needsApproval: boolean;
  /** Set if only calls with one of these arguments need approval. `needsApproval` is true then. */
  whenGiven?: string[];
  /** Set if the tool is a workflow. `serverLabel` is empty then. */
  workflowId?: number;
  /** Set if the tool is an action: its index in the `tools` of the agent's data. */
  toolIndex?: number;
}

/** A tool that is not offered to the agent. `toolName` is masked and cut, and `reason` is a fixed sentence of ours. */
export interface LeftOutTool {
  serverLabel: string;
  /** Empty if the tool has no name. */
  toolName: string;
  reason: string;
}

/** Returns the warnings for readers of an agent's first step; none for other steps, or if every tool is offered. */
export function toWarnings(turn: number, leftOut: LeftOutTool[]): { warnings?: object[] } {
  if (turn > 0 || leftOut.length === 0) return {};
  const warnings = leftOut.map(({ serverLabel, toolName, reason }) => ({
    server_label: serverLabel,
    tool_name: toolName,
    message: `The tool is left out. ${reason}`,
  }));
  return { warnings };
}

interface NewTools {
  tools: AgentTool[];
  leftOut?: LeftOutTool[];
  /** The limit of the agent, which also applies to the runs that its tools start. */
  maxCostUsd: string | null;
}

/** Stores the tools and returns them, or those that an earlier attempt has stored. */
export async function keepTools(
  db: Db,
  secretBox: SecretBox,
  { runId, path, nodeId }: NodeKey,
  { tools, leftOut = [], maxCostUsd }: NewTools,
): Promise<AgentTool[]> {
  // If no tool is left out, store a plain list, because workers of the previous version can read nothing else.
  const stored = leftOut.length === 0 ? tools : { tools, leftOut };
  const toolsEnc = secretBox.seal(writeJson(stored), 'agent-tools', runId, path, nodeId);
  const { rows } = await sql<{ toolsEnc: Buffer }>`
    INSERT INTO agent_sessions AS session (run_id, path, node_id, tools_enc, max_cost_usd)
    VALUES (${runId}, ${path}, ${nodeId}, ${toolsEnc}, ${maxCostUsd})
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET tools_enc = session.tools_enc
    RETURNING tools_enc AS "toolsEnc"`.execute(db);
  return open(secretBox, rows[0]!.toolsEnc, { runId, path, nodeId }).tools;
}

/** Returns undefined before the agent's first turn, and after its contents have expired. */
export async function findTools(db: Db, secretBox: SecretBox, key: NodeKey): Promise<AgentTool[] | undefined> {
  return (await findToolSet(db, secretBox, key))?.tools;
}

export async function findLeftOutTools(db: Db, secretBox: SecretBox, key: NodeKey): Promise<LeftOutTool[]> {
  return (await findToolSet(db, secretBox, key))?.leftOut ?? [];
}

async function findToolSet(db: Db, secretBox: SecretBox, key: NodeKey): Promise<ToolSet | undefined> {
  const found = await db
    .selectFrom('agent_sessions')
    .select('tools_enc')
    .where((row) => row.and(keyColumns(key)))
    .executeTakeFirst();
  return found && open(secretBox, found.tools_enc, key);
}

interface ToolSet {
  tools: AgentTool[];
  leftOut: LeftOutTool[];
}

function open(secretBox: SecretBox, sealed: Buffer, { runId, path, nodeId }: NodeKey): ToolSet {
  const stored = parseJson(secretBox.open(sealed, 'agent-tools', runId, path, nodeId)) as AgentTool[] | ToolSet;
  return Array.isArray(stored) ? { tools: stored, leftOut: [] } : stored;
}
