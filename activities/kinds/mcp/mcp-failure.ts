import type { McpError } from '../../../outgoing/mcp-client.js';
import { NodeFailure } from '../../node/failures.js';

const PASSING = new Set<McpError['code']>(['mcp_unreachable', 'timeout']);

/** `mayRepeat`: repeating the request does no harm. A request that was never sent may always be retried. */
export function toMcpFailure(error: McpError, { mayRepeat }: { mayRepeat: boolean }): NodeFailure {
  const isRetryable = PASSING.has(error.code) && (mayRepeat || error.isBeforeSend);
  return new NodeFailure(error.code, error.message, { isRetryable });
}
