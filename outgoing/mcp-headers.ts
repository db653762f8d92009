// The headers that a user gives for an MCP server: which of them can be sent, and how they are kept out of messages.
import { isConnectionHeader, isHeaderName, isHeaderValue } from './header-text.js';
import { McpError } from './mcp-error.js';

/** What the protocol needs for itself; a user's value would only break it. */
const OURS = new Set([
  'accept',
  'accept-encoding',
  'content-encoding',
  'content-type',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
]);

/** The headers to send; those that the protocol and the connection set are left out. Throws McpError for what HTTP cannot carry. */
export function toSendableHeaders(headers: Record<string, string>): Record<string, string> {
  const sendable: Record<string, string> = { 'user-agent': 'workflow-automation-service' };
  for (const [name, value] of Object.entries(headers)) {
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
/** Shorter words turn up by chance. */
const MIN_CHARACTERS = 6;

/** Takes the headers' values out of a text (a server may quote what it got), also without their scheme (`Bearer`). */
export function createHeaderMask(headers: Record<string, string>): (text: string) => string {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/[\s,;=]+/)]);
  const hidden = values.filter((value) => value.length >= MIN_CHARACTERS).toSorted((a, b) => b.length - a.length);
  return (text) => hidden.reduce((masked, value) => masked.replaceAll(value, MASK), text);
}
