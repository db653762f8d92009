// Opens the servers of an agent's tools: those of the drawing, and this service's own `/mcp/build` for the assistant in
// the editor. Only runs of the purpose `assistant`, whose drawing is built in, use `/mcp/build`.
import { LRUCache } from 'lru-cache';
import { makeAssistantToken } from '../../../db/agents/assistant-token.js';
import type { SecretBox } from '../../../db/core/secret-box.js';
import type { AgentServer } from '../../../graph/nodes/agent.js';
import type { VariableValues } from '../../../graph/template.js';
import type { McpServer, McpSession } from '../../../outgoing/mcp-types.js';
import type { NodeTask } from '../../node/node-step.js';
import { renderHeaders } from '../http/request-headers.js';
import { withServer, type ServerDeps, type ServerOfNode } from '../mcp/call-server.js';
import type { McpSessions } from '../mcp/mcp-sessions.js';

export interface ToolServerDeps extends ServerDeps {
  /** The tools of the assistant in the editor. */
  builder: BuilderServer;
}

export interface BuilderServer {
  sessions: McpSessions;
  /** Returns the server for a run. */
  serverOf: (runId: string) => McpServer;
}

const CONNECT_TIMEOUT_MS = 30_000;
const MOST_TOKENS = 1_000;
/** A token lives much longer. It is reused for this time, because calls with the same token share a session. */
const TOKEN_TTL_MS = 5 * 60_000;

export function createBuilderServer(
  sessions: McpSessions,
  { internalApiUrl, secretBox }: { internalApiUrl: string; secretBox: SecretBox },
): BuilderServer {
  const tokens = new LRUCache<string, string>({ max: MOST_TOKENS, ttl: TOKEN_TTL_MS });
  return {
    sessions,
    serverOf(runId) {
      const token = tokens.get(runId) ?? makeAssistantToken(secretBox, runId);
      if (!tokens.has(runId)) tokens.set(runId, token);
      return {
        endpointUrl: `${internalApiUrl}/mcp/build`,
        transport: 'streamable_http',
        headers: { Authorization: `Bearer ${token}` },
        timeoutMs: CONNECT_TIMEOUT_MS,
      };
    },
  };
}

/**
 * Runs `act` with a session of the tool's server; in a run of the assistant, always of `/mcp/build`. Throws the errors
 * of `withServer`.
 */
export function withToolServer<T extends object>(
  deps: ToolServerDeps,
  task: NodeTask,
  { tool, values }: { tool: AgentServer; values: VariableValues },
  act: (session: McpSession) => Promise<T>,
): Promise<T> {
  if (!task.run.isAssistant) return withServer(deps, task, toServer(tool, values), act);
  const { sessions, serverOf } = deps.builder;
  return sessions.use(task.runId, serverOf(task.runId), task.signal, act);
}

function toServer(tool: AgentServer, values: VariableValues): ServerOfNode {
  const server = {
    endpointUrl: tool.endpoint_url,
    transport: tool.transport,
    headers: renderHeaders(tool.headers, values),
    timeoutMs: tool.timeout * 1000,
  };
  return { server, connection: tool.connection };
}
