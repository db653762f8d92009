import type { McpError } from '../../../outgoing/mcp-client.js';
import { NodeFailure } from '../../node/failures.js';

const PASSING = new Set<McpError['code']>(['mcp_unreachable', 'timeout']);

interface Calling {
  /** True if repeating the request does no harm. A request that was never sent may always be retried. */
  mayRepeat: boolean;
  hasConnection: boolean;
}

export function toMcpFailure(error: McpError, { mayRepeat, hasConnection }: Calling): NodeFailure {
  if (hasConnection && error.isUnauthorized) {
    return new NodeFailure('http_status', 'The MCP server refuses the connection (status 401).');
  }
  const isPassing = PASSING.has(error.code) || error.isSessionLost;
  const isRetryable = isPassing && (mayRepeat || error.isBeforeSend);
  return new NodeFailure(error.code, error.message, { isRetryable });
}
