// Helpers of the tests of the MCP client.
import assert from 'node:assert/strict';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { McpError, type McpErrorCode } from '../../outgoing/mcp-error.js';
import type { McpClient, McpServer } from '../../outgoing/mcp-types.js';

export const NEVER = new AbortController().signal;
export const MIB = 1024 * 1024;

export function toServer(endpointUrl: string, given: Partial<McpServer> = {}): McpServer {
  return { endpointUrl, transport: 'auto', headers: {}, timeoutMs: 5_000, ...given };
}

/** Connects, lists and closes. */
export async function listTools(client: McpClient, endpointUrl: string, given?: Partial<McpServer>): Promise<Tool[]> {
  const session = await client.connect(toServer(endpointUrl, given), NEVER);
  try {
    return (await session.listTools(NEVER)) as Tool[];
  } finally {
    await session.close();
  }
}

export interface Call {
  args?: Record<string, unknown>;
  timeoutMs?: number;
  server?: Partial<McpServer>;
}

/** Connects, calls the tool `echo` and closes. */
export async function callTool(
  client: McpClient,
  endpointUrl: string,
  { args = {}, timeoutMs = 60_000, server }: Call = {},
) {
  const session = await client.connect(toServer(endpointUrl, server), NEVER);
  try {
    return await session.callTool('echo', args, { timeoutMs, signal: NEVER });
  } finally {
    await session.close();
  }
}

/** A check for `assert.rejects`. */
export function failing(code: McpErrorCode, message: RegExp, isBeforeSend?: boolean): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof McpError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    if (isBeforeSend !== undefined) assert.equal(error.isBeforeSend, isBeforeSend);
    return true;
  };
}
