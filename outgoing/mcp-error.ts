// The errors of calls to MCP servers. A message may quote the error that a server has sent, and so contain values of
// the headers of our requests, until mcp-session.ts or mcp-client.ts masks them.
import { McpError as JsonRpcError } from '@modelcontextprotocol/sdk/types.js';

export type McpErrorCode =
  | 'mcp_unreachable'
  | 'mcp_protocol'
  | 'mcp_unauthorized'
  | 'mcp_tool_not_found'
  | 'blocked_address'
  | 'invalid_url'
  | 'invalid_value'
  | 'timeout'
  | 'response_too_large';

export class McpError extends Error {
  override name = 'McpError';
  readonly code: McpErrorCode;
  /**
   * True only if the request was never sent, or the server refused it without processing it: it may then be retried.
   * Always true for the errors of `McpClient.connect`.
   */
  readonly isBeforeSend: boolean;
  /** True if the server refuses the credentials (status 401). The server has then executed nothing. */
  readonly isUnauthorized: boolean;
  /** True if the server no longer knows the session. A new session may help. */
  readonly isSessionLost: boolean;

  constructor(
    code: McpErrorCode,
    message: string,
    isBeforeSend: boolean,
    { isUnauthorized = false, isSessionLost = false }: { isUnauthorized?: boolean; isSessionLost?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.isBeforeSend = isBeforeSend;
    this.isUnauthorized = isUnauthorized;
    this.isSessionLost = isSessionLost;
  }

  withMessage(message: string, isBeforeSend = this.isBeforeSend): McpError {
    return new McpError(this.code, message, isBeforeSend, this);
  }

  /**
   * Returns a copy for an earlier call that fails because of this error, for example because its broken stream could
   * not be resumed. The server has received that call, so `isBeforeSend` is false.
   */
  afterSend(): McpError {
    return new McpError(this.code, this.message, false, { isSessionLost: this.isSessionLost });
  }
}

/** The server answered with an HTTP status instead of a message. */
export class McpStatusError extends McpError {
  readonly status: number;

  constructor(status: number, isSessionLost: boolean) {
    const isUnauthorized = status === 401;
    const isBeforeSend = isSessionLost || isUnauthorized;
    super(statusCode(status), statusMessage(status, isSessionLost), isBeforeSend, { isUnauthorized, isSessionLost });
    this.status = status;
  }
}

function statusCode(status: number): McpErrorCode {
  if (status === 401 || status === 403) return 'mcp_unauthorized';
  // 5xx, 408 and 429 may be temporary, because the server is overloaded or restarts.
  return status >= 500 || status === 408 || status === 429 ? 'mcp_unreachable' : 'mcp_protocol';
}

function statusMessage(status: number, isSessionLost: boolean): string {
  if (isSessionLost) return `The MCP server no longer knows the session (status ${status}).`;
  if (status === 401 || status === 403) return `The MCP server refuses the credentials (status ${status}).`;
  return `The MCP server answered with status ${status} instead of a message.`;
}

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** Converts an error that the SDK or our own code threw during a request. */
export function toMcpError(error: unknown, method?: string): McpError {
  if (error instanceof McpError) return error;
  if (error instanceof JsonRpcError) return toAnsweredError(error, method);
  // The SDK's message for a session that was closed, by us or because its stream broke.
  if (error instanceof Error && error.message === 'Not connected') return closed(true);
  const words: Record<string, string> = {
    SyntaxError: 'The MCP server answered with something that is not JSON.',
    ZodError: 'The MCP server answered with a message that does not follow the protocol.',
    StreamableHTTPError: 'The MCP server answered with neither JSON nor an event stream.',
    SseError: 'The MCP server did not open an event stream.',
  };
  // Some classes of the SDK and of zod do not set their name.
  const names = error instanceof Error ? [error.constructor.name, error.name.replace('$', '')] : [];
  const known = names.map((name) => words[name]).find((text) => text !== undefined);
  return new McpError('mcp_protocol', known ?? 'The MCP server does not follow the protocol.', false);
}

/** Converts a JSON-RPC error: the server's, the SDK's, or one that carries ours (`fail` in exchanges.ts). */
function toAnsweredError(error: JsonRpcError, method: string | undefined): McpError {
  if (error.data instanceof McpError) return error.data;
  const text = error.message.replace(/^MCP error -?\d+: /, '');
  if (text === 'Connection closed') return closed(false);
  // The text must be masked before it is cut, so it is not cut here.
  const quoted = text.trim();
  const isUnknownTool =
    error.code === METHOD_NOT_FOUND || (error.code === INVALID_PARAMS && /not found|unknown tool/i.test(text));
  if (method === 'tools/call' && isUnknownTool) {
    return new McpError('mcp_tool_not_found', `The MCP server does not have this tool: ${quoted}`, false);
  }
  return new McpError('mcp_protocol', `The MCP server answered with error ${error.code}: ${quoted}`, false);
}

function closed(isBeforeSend: boolean): McpError {
  return new McpError('mcp_unreachable', 'The connection to the MCP server was closed.', isBeforeSend);
}
