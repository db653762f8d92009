// The tools of an agent. They are listed at its first turn and then stored, so that every later turn sees the same
// tools.
import type OpenAI from 'openai';
import { findTools, keepTools, type AgentTool } from '../../../db/agents/agent-tools.js';
import type { Database } from '../../../db/core/client.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import { needsApproval } from '../../../graph/approval-policy.js';
import type { AgentNodeData, AgentServer } from '../../../graph/nodes/agent.js';
import type { Scope } from '../../../graph/template.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpServer, McpTool } from '../../../outgoing/mcp-types.js';
import { toMcpFailure } from '../mcp/mcp-failure.js';
import type { McpSessions } from '../mcp/mcp-sessions.js';
import { renderHeaders } from '../http/request-headers.js';
import type { NodeTask } from '../../node/node-step.js';

export interface AgentSessionDeps {
  db: Database;
  secretBox: SecretBox;
  sessions: McpSessions;
}

const MAX_TOOLS = 256;
const MAX_NAME = 64;

/** Throws NodeFailure when a server cannot list its tools. */
export async function loadTools(
  deps: AgentSessionDeps,
  task: NodeTask,
  data: AgentNodeData,
  scope: Scope,
): Promise<AgentTool[]> {
  const stored = await findTools(deps.db, deps.secretBox, task);
  if (stored !== undefined) return stored;
  const lists = await Promise.all(
    data.tools.map(async (server) => {
      const tools = await listTools(deps.sessions, toServer(server, scope), task);
      return tools
        .filter(({ name }) => !name.includes('\0') && (server.allowed_tools?.includes(name) ?? true))
        .map((tool) => ({ server, tool }));
    }),
  );
  return keepTools(deps.db, deps.secretBox, task, nameTools(lists.flat().slice(0, MAX_TOOLS)));
}

export function toServer(server: AgentServer, scope: Scope): McpServer {
  return {
    endpointUrl: server.endpoint_url,
    transport: server.transport,
    headers: renderHeaders(server.headers, scope),
    timeoutMs: server.timeout * 1000,
  };
}

export function toModelTools(tools: AgentTool[]): OpenAI.Chat.ChatCompletionFunctionTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
}

async function listTools(sessions: McpSessions, server: McpServer, { runId, signal }: NodeTask): Promise<McpTool[]> {
  try {
    return await sessions.use(runId, server, signal, (session) => session.listTools(signal));
  } catch (error) {
    // Listing tools has no side effects, so it may always be retried.
    throw error instanceof McpError ? toMcpFailure(error, { mayRepeat: true }) : error;
  }
}

/**
 * Keeps a tool's own name where it is unique over all servers. Otherwise the name gets its server's label as a prefix.
 */
function nameTools(found: { server: AgentServer; tool: McpTool }[]): AgentTool[] {
  const taken = new Set<string>();
  const uses = new Map<string, number>();
  for (const { tool } of found) uses.set(tool.name, (uses.get(tool.name) ?? 0) + 1);
  return found.map(({ server, tool }) => {
    const wanted = uses.get(tool.name) === 1 ? tool.name : `${server.server_label}__${tool.name}`;
    const base = wanted.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX_NAME) || 'tool';
    let name = base;
    for (let suffix = 2; taken.has(name); suffix++) name = `${base.slice(0, MAX_NAME - 5)}_${suffix}`;
    taken.add(name);
    return {
      name,
      serverLabel: server.server_label,
      toolName: tool.name,
      description: tool.description ?? '',
      parameters: tool.inputSchema,
      needsApproval: needsApproval(server.require_approval, tool.name),
    };
  });
}
