// The tools of an agent, which are listed at its first turn and then stored. The API reads them to check arguments that a
// person has changed.
import { sql } from 'kysely';
import { parseJson, writeJson } from '../../graph/json-text.js';
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

/** A tool of a server that the agent is not offered. Its texts are the server's: masked and cut. */
export interface LeftOutTool {
  serverLabel: string;
  /** Empty for one without a name. */
  toolName: string;
  reason: string;
}

/** The warnings that readers of the first step of an agent are told. Nothing is added where every tool is offered. */
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
  /** The limit of the agent, which also holds for the runs that its tools start. */
  maxCostUsd: string | null;
}

/** Returns the tools that an earlier attempt has stored, or else those given now. */
export async function keepTools(
  db: Db,
  secretBox: SecretBox,
  { runId, path, nodeId }: NodeKey,
  { tools, leftOut = [], maxCostUsd }: NewTools,
): Promise<AgentTool[]> {
  // A worker of the version before reads the list alone.
  const stored = leftOut.length === 0 ? tools : { tools, leftOut };
  const toolsEnc = secretBox.seal(writeJson(stored), 'agent-tools', runId, path, nodeId);
  const { rows } = await sql<{ toolsEnc: Buffer }>`
    INSERT INTO agent_sessions AS session (run_id, path, node_id, tools_enc, max_cost_usd)
    VALUES (${runId}, ${path}, ${nodeId}, ${toolsEnc}, ${maxCostUsd})
    ON CONFLICT (run_id, path, node_id) DO UPDATE SET tools_enc = session.tools_enc
    RETURNING tools_enc AS "toolsEnc"`.execute(db);
  return open(secretBox, rows[0]!.toolsEnc, { runId, path, nodeId }).tools;
}

/** Returns undefined before the first turn of the agent, and once its contents have expired. */
export async function findTools(db: Db, secretBox: SecretBox, key: NodeKey): Promise<AgentTool[] | undefined> {
  return (await findToolSet(db, secretBox, key))?.tools;
}

/** Returns the tools of the agent's servers that it is not offered. */
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
