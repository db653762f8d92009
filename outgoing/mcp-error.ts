// What goes wrong with an MCP server, told apart and in our own words: neither a header nor the SDK's text is in them.
import { McpError as JsonRpcError } from '@modelcontextprotocol/sdk/types.js';

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
  /** The request never left, or the server refused it unread: it may be sent again. Always true of `connect`. */
  readonly isBeforeSend: boolean;

  constructor(code: McpErrorCode, message: string, isBeforeSend: boolean) {
    super(message);
    this.code = code;
    this.isBeforeSend = isBeforeSend;
  }
}

/** The server answered with an HTTP status where a message was due. */
export class McpStatusError extends McpError {
  readonly status: number;

  constructor(status: number, isSessionLost: boolean) {
    super(statusCode(status), statusMessage(status, isSessionLost), isSessionLost);
    this.status = status;
  }
}

function statusCode(status: number): McpErrorCode {
  if (status === 401 || status === 403) return 'mcp_unauthorized';
  // "Not now": what an overloaded or restarting server says.
  return status >= 500 || status === 408 || status === 429 ? 'mcp_unreachable' : 'mcp_protocol';
}

function statusMessage(status: number, isSessionLost: boolean): string {
  if (isSessionLost) return `The MCP server no longer knows the session (status ${status}).`;
  if (status === 401 || status === 403) return `The MCP server refuses the credentials (status ${status}).`;
  return `The MCP server answered with status ${status} instead of a message.`;
}

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

/** Whatever the SDK or our own layers threw while a request was under way. */
export function toMcpError(error: unknown, method?: string): McpError {
  if (error instanceof McpError) return error;
  if (error instanceof JsonRpcError) return toAnsweredError(error, method);
  // The SDK's word for a session that was closed, by us or because its stream broke.
  if (error instanceof Error && error.message === 'Not connected') return closed(true);
  const words: Record<string, string> = {
    SyntaxError: 'The MCP server answered with something that is not JSON.',
    ZodError: 'The MCP server answered with a message that does not follow the protocol.',
    StreamableHTTPError: 'The MCP server answered with neither JSON nor an event stream.',
    SseError: 'The MCP server did not open an event stream.',
  };
  // Not every class of the SDK and of zod sets its name.
  const names = error instanceof Error ? [error.constructor.name, error.name.replace('$', '')] : [];
  const known = names.map((name) => words[name]).find((text) => text !== undefined);
  return new McpError('mcp_protocol', known ?? 'The MCP server does not follow the protocol.', false);
}

/** A JSON-RPC error: the server's own, or one that carries ours (`Exchanges.fail`). */
function toAnsweredError(error: JsonRpcError, method: string | undefined): McpError {
  if (error.data instanceof McpError) return error.data;
  const text = error.message.replace(/^MCP error -?\d+: /, '');
  if (text === 'Connection closed') return closed(false);
  // Not cut here: whoever shows it masks it first.
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
