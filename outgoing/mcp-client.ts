// Sessions with MCP servers that users name (decisions, sections 5, 8 and 11).
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

export interface McpSession {
  listTools(signal: AbortSignal): Promise<McpTool[]>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options: { timeoutMs: number; signal: AbortSignal },
  ): Promise<McpToolResult>;
  close(): Promise<void>;
}

export type McpErrorCode =
  | 'mcp_unreachable'
  | 'mcp_protocol'
  | 'mcp_unauthorized'
  | 'mcp_tool_not_found'
  | 'blocked_address'
  | 'invalid_url'
  | 'timeout'
  | 'response_too_large';

export class McpError extends Error {
  override name = 'McpError';
  readonly code: McpErrorCode;
  /** The request never left. */
  readonly isBeforeSend: boolean;

  constructor(code: McpErrorCode, message: string, isBeforeSend: boolean) {
    super(message);
    this.code = code;
    this.isBeforeSend = isBeforeSend;
  }
}

export interface McpClient {
  connect(server: McpServer, signal: AbortSignal): Promise<McpSession>;
  close(): Promise<void>;
}

export function createMcpClient(_options: { allowPrivateNetwork: boolean }): McpClient {
  return {
    connect: () => Promise.reject(new McpError('mcp_unreachable', 'The MCP client is not built yet.', true)),
    close: () => Promise.resolve(),
  };
}
