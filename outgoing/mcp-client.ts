// Opens sessions with the MCP servers that users name, using the official SDK.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { AddressRules } from './refused-addresses.js';
import { McpError, McpStatusError, toMcpError } from './mcp-error.js';
import { deadlineSignal } from './pausable-deadline.js';
import { createMcpNetwork, type McpNetwork } from './mcp-fetch.js';
import { toAddress } from './network-error.js';
import { createHeaderMask, toSendableHeaders } from './mcp-headers.js';
import { createSession } from './mcp-session.js';
import type { McpClient, McpServer, McpSession } from './mcp-types.js';
import { WatchedTransport } from './mcp-transport.js';
import { untilAborted } from './until-aborted.js';

export { McpError } from './mcp-error.js';

const CLIENT_INFO = { name: 'workflow-automation-service', version: '1.0.0' };
/** Only for connecting: longer than our own time-out for that (`McpServer.timeoutMs`), so that ours fires first. */
const SDK_TIMEOUT_MS = 120_000;

export function createMcpClient(rules: AddressRules): McpClient {
  const network = createMcpNetwork(rules);
  const sessions = new Set<McpSession>();
  return {
    async connect(server, signal) {
      const deadline = deadlineSignal(server.timeoutMs);
      const hide = createHeaderMask(server.headers);
      try {
        const session = await connectBy(server, network, AbortSignal.any([signal, deadline]), (closed) => {
          sessions.delete(closed);
        });
        sessions.add(session);
        return session;
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.aborted) {
          const place = hide(toAddress(new URL(server.endpointUrl)));
          const message = `No connection to the MCP server at ${place} within ${server.timeoutMs / 1000} seconds.`;
          throw new McpError('timeout', message, true);
        }
        const failure = toMcpError(error);
        throw failure.withMessage(hide(failure.message), true);
      }
    },
    async close() {
      await Promise.all([...sessions].map((session) => session.close()));
      await network.dispatcher.destroy();
    },
  };
}

type OnClosed = (session: McpSession) => void;

/** `auto` uses streamable HTTP, and falls back to SSE if the server refuses that with a 4xx. */
async function connectBy(
  server: McpServer,
  network: McpNetwork,
  signal: AbortSignal,
  onClosed: OnClosed,
): Promise<McpSession> {
  const { transport } = server;
  const target = { url: toEndpoint(server.endpointUrl), headers: toSendableHeaders(server.headers) };
  const hide = createHeaderMask(server.headers);
  const open = (by: 'sse' | 'streamable_http') => openSession({ ...target, transport: by }, network, signal);
  const toSession = ({ client, transport: watched }: Opened): McpSession => {
    let closing: Promise<void> | undefined;
    const session = createSession(client, watched.exchanges, hide, () => {
      return (closing ??= watched.close().finally(() => onClosed(session)));
    });
    return session;
  };
  if (transport !== 'auto') return toSession(await open(transport));
  try {
    return toSession(await open('streamable_http'));
  } catch (first) {
    if (!(first instanceof McpStatusError) || first.status < 400 || first.status > 499) throw first;
    // The server supports streamable HTTP, but has lost the session while it was being opened. SSE would not help.
    if (first.isSessionLost) throw first;
    // If SSE fails with `mcp_protocol`, the server probably does not support SSE, and the first error says more. Any
    // other error of SSE, such as refused credentials or a stream that broke during `initialize`, is thrown itself.
    return toSession(
      await open('sse').catch((second: unknown) => {
        const error = toMcpError(second);
        throw error.code === 'mcp_protocol' ? first : error;
      }),
    );
  }
}

interface Opened {
  client: Client;
  transport: WatchedTransport;
}

async function openSession(
  target: { url: URL; headers: Record<string, string>; transport: 'sse' | 'streamable_http' },
  network: McpNetwork,
  signal: AbortSignal,
): Promise<Opened> {
  signal.throwIfAborted();
  const transport = new WatchedTransport(target, network);
  // Replaces the SDK's validator of tool results, which is expensive to create and which our requests never use.
  const jsonSchemaValidator = { getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'unused' }) };
  const client = new Client(CLIENT_INFO, { jsonSchemaValidator } as object);
  const stop = (): void => void transport.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await untilAborted(client.connect(transport, { timeout: SDK_TIMEOUT_MS }), signal);
    return { client, transport };
  } catch (error) {
    stop();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Throws `McpError` for anything but an http or https URL, and for a URL with a user name or password. */
function toEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new McpError('invalid_url', 'The URL of the MCP server is not a valid http or https URL.', true);
  }
  if (url.username === '' && url.password === '') return url;
  const message = 'The URL of the MCP server holds a user name or password: these belong in a connection.';
  throw new McpError('invalid_url', message, true);
}
