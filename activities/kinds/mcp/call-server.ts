// The common part of MCP nodes and agents: a session with a server, opened with the connection that the drawing names.
import type { Credential } from '../../../connections/credential.js';
import { McpError } from '../../../outgoing/mcp-client.js';
import type { McpServer, McpSession } from '../../../outgoing/mcp-types.js';
import type { NodeTask } from '../../node/node-step.js';
import type { CallWith, ConnectionUse } from '../../connections/use-connection.js';
import type { McpSessions } from './mcp-sessions.js';

export interface ServerDeps {
  sessions: McpSessions;
  connections: ConnectionUse;
}

/** A server of a drawing, and the id of its connection. */
export interface ServerOfNode {
  server: McpServer;
  connection: number | null | undefined;
}

/**
 * Runs `act` with a session of the run. If the server refuses the credential and there is a newer one, tries once more
 * with that. Masks the credential in the result and in the messages of errors. Throws the errors of `act` and of
 * `ConnectionUse`, and `McpError`.
 */
export async function withServer<T extends object>(
  { sessions, connections }: ServerDeps,
  task: NodeTask,
  { server, connection }: ServerOfNode,
  act: (session: McpSession) => Promise<T>,
): Promise<T> {
  const call = async ({ credential, hide }: CallWith): Promise<T> => {
    const found = await sessions.use(task.runId, authorized(server, credential), task.signal, act);
    return hide.json(found);
  };
  return connections.call(task, connection, call, (outcome) => 'error' in outcome && isUnauthorized(outcome.error));
}

function authorized(server: McpServer, credential: Credential | undefined): McpServer {
  if (credential === undefined) return server;
  const { url, headers } = credential.authorize({ url: new URL(server.endpointUrl), headers: server.headers });
  return { ...server, endpointUrl: url.href, headers };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof McpError && error.isUnauthorized;
}
