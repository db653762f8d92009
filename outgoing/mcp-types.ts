// What callers of MCP servers give and get.
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

export type McpTransport = 'auto' | 'sse' | 'streamable_http';

export interface McpServer {
  endpointUrl: string;
  transport: McpTransport;
  headers: Record<string, string>;
  /** Of connecting, milliseconds. */
  timeoutMs: number;
}

/** As the server gives it. */
export type McpTool = Tool;

export interface McpToolResult {
  /** The text parts, joined with a newline. */
  content: string;
  structuredContent: unknown;
  isError: boolean;
  parts: unknown[];
}

/** Rejects with McpError, or with the signal's reason when that was aborted. Calls may run side by side. */
export interface McpSession {
  /** All pages joined; at most 30 seconds. */
  listTools(signal: AbortSignal): Promise<McpTool[]>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<McpToolResult>;
  /** Ends the session on the server too. Never rejects; what is still asked for then fails. */
  close(): Promise<void>;
}

export interface McpClient {
  /** Rejects with McpError (`isBeforeSend` always true), or with the signal's reason when that was aborted. */
  connect(server: McpServer, signal: AbortSignal): Promise<McpSession>;
  /** Closes every session. */
  close(): Promise<void>;
}
