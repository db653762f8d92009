// The user's headers for an MCP server: decides which of them can be sent, and masks their values in messages.
import { isConnectionHeader, isHeaderName, isHeaderValue, trimHeaderValue } from './header-text.js';
import { McpError } from './mcp-error.js';

/** A user's value of these headers would contradict the requests that the SDK and `fetch` make. */
const OURS = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-type',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
]);

/**
 * Returns the headers to send, trimmed, without those that MCP or the HTTP client sets, and with a default
 * `user-agent`. Throws `McpError`: `invalid_value` for a line break inside a value, and `mcp_protocol` for another name
 * or value that HTTP cannot carry.
 */
export function toSendableHeaders(headers: Record<string, string>): Record<string, string> {
  const sendable: Record<string, string> = { 'user-agent': 'workflow-automation-service' };
  for (const [name, raw] of Object.entries(headers)) {
    const value = trimHeaderValue(raw);
    if (/[\r\n]/.test(value)) {
      throw new McpError('invalid_value', `The value of the header "${name}" holds a line end.`, true);
    }
    if (!isHeaderName(name) || !isHeaderValue(value)) {
      throw new McpError(
        'mcp_protocol',
        'A header for the MCP server holds characters that headers cannot carry.',
        true,
      );
    }
    const lower = name.toLowerCase();
    if (!OURS.has(lower) && !isConnectionHeader(lower)) sendable[lower] = value;
  }
  return sendable;
}

const MASK = '********';
/** Shorter words are not masked, because they occur in texts by chance. */
const MIN_CHARACTERS = 6;

/**
 * Returns a function that masks in a text the value of each header, and each of its parts, such as the token after
 * `Bearer`, because a server may quote them.
 */
export function createHeaderMask(headers: Record<string, string>): (text: string) => string {
  const values = Object.values(headers)
    .map(trimHeaderValue)
    .flatMap((value) => [value, ...value.split(/[\s,;=]+/)]);
  const hidden = values.filter((value) => value.length >= MIN_CHARACTERS).toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
}
