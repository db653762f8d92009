// The types for callers of MCP servers.
import type { Reserve } from './message-size.js';

type McpTransport = 'auto' | 'sse' | 'streamable_http';

export interface McpServer {
  endpointUrl: string;
  transport: McpTransport;
  headers: Record<string, string>;
  /** The time-out for connecting. */
  timeoutMs: number;
}

/** A tool as the server describes it. */
export interface McpTool {
  name: string;
  [field: string]: unknown;
}

export interface McpToolResult {
  /** The text parts, joined with a newline. */
  content: string;
  structuredContent: unknown;
  isError: boolean;
  parts: unknown[];
}

/**
 * Methods reject with `McpError`, with the error of `reserve`, or with the reason of the aborted signal. Calls may be
 * concurrent.
 */
export interface McpSession {
  /**
   * Returns the joined lists of all pages, unchanged, so some items may not be tools (`mcp-tools.ts`). Takes at most 30
   * seconds. `reserve` is called with the size of all pages so far before more is read. Up to two minutes of waiting
   * for `reserve` do not count.
   */
  listTools(signal: AbortSignal, reserve?: Reserve): Promise<unknown[]>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    /** `meta` becomes the request's `_meta`. */
    options: { timeoutMs: number; signal: AbortSignal; reserve?: Reserve; meta?: Record<string, unknown> },
  ): Promise<McpToolResult>;
  /** Closes the session here, and on the server if it answers soon. Never rejects. Requests in flight fail. */
  close(): Promise<void>;
}

export interface McpClient {
  /** Rejects with `McpError` (`isBeforeSend` always true), or with the reason of the aborted signal. */
  connect(server: McpServer, signal: AbortSignal): Promise<McpSession>;
  close(): Promise<void>;
}
