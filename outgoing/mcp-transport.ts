// Wraps the SDK's transport. The SDK ignores some errors, or waits until a time-out. Here these errors end the request
// or the session at once.
import { setTimeout as pause } from 'node:timers/promises';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCNotification, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { McpExchanges } from './exchanges.js';
import { McpError, toMcpError } from './mcp-error.js';
import { createMcpFetch, MAX_RESUMES, type McpNetwork } from './mcp-fetch.js';

interface Target {
  url: URL;
  transport: 'sse' | 'streamable_http';
  headers: Record<string, string>;
}

/** The limit on requests from the server. We support only `ping`, and answering each one costs a request of ours. */
const MAX_SERVER_REQUESTS = 100;
/** Together, both fit into the time that a process has to end. */
const CLOSE_WITHIN_MS = 1_000;
const CANCEL_WITHIN_MS = 500;

export class WatchedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  readonly exchanges = new McpExchanges((answer) => this.onmessage?.(answer));
  readonly #cancellations = new Set<Promise<void>>();
  #brokenBy: McpError | undefined;
  #onBroken: (error: McpError) => void = () => undefined;
  #serverRequests = 0;

  constructor({ url, transport, headers }: Target, network: McpNetwork) {
    const exchanges = this.exchanges;
    const onBroken = (error: McpError): void => this.#break(error);
    const fetch = createMcpFetch({ network, origin: url.origin, transport, exchanges, onBroken });
    const options = { fetch, requestInit: { headers } };
    this.#inner =
      transport === 'sse'
        ? new SSEClientTransport(url, options)
        : new StreamableHTTPClientTransport(url, {
            ...options,
            reconnectionOptions: {
              maxRetries: MAX_RESUMES,
              initialReconnectionDelay: 1_000,
              maxReconnectionDelay: 5_000,
              reconnectionDelayGrowFactor: 2,
            },
          });
  }

  async start(): Promise<void> {
    /* oxlint-disable unicorn/prefer-add-event-listener -- the SDK's transports are no event targets */
    this.#inner.onmessage = (message) => this.#receive(message);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.#notice(error);
    /* oxlint-enable unicorn/prefer-add-event-listener */
    const broken = new Promise<never>((_resolve, reject) => (this.#onBroken = reject));
    await Promise.race([this.#inner.start(), broken]);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#brokenBy !== undefined) throw new McpError(this.#brokenBy.code, this.#brokenBy.message, true);
    if (!('method' in message)) return this.exchanges.run(undefined, () => this.#inner.send(message));
    if (!('id' in message)) return this.#notify(message);
    const exchange = this.exchanges.begin(message.id);
    try {
      await this.exchanges.run(exchange, () => this.#inner.send(message));
    } catch (error) {
      this.exchanges.drop(exchange.id);
      throw error;
    }
    if (this.#inner instanceof SSEClientTransport || exchange.isStreaming) return;
    this.exchanges.fail(exchange, protocolError('The MCP server answered without a response to the request.'));
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  /** Ends the session locally, and on a server that keeps sessions and answers soon. Never rejects. */
  async close(): Promise<void> {
    await within(CANCEL_WITHIN_MS, Promise.all(this.#cancellations));
    if (this.#inner instanceof StreamableHTTPClientTransport && this.#brokenBy === undefined) {
      await within(CLOSE_WITHIN_MS, this.#inner.terminateSession());
    }
    await this.#inner.close();
  }

  /** A cancelled request closes its connection after the server has been notified. */
  async #notify(message: JSONRPCNotification): Promise<void> {
    const sent = this.exchanges.run(undefined, () => this.#inner.send(message));
    if (message.method !== 'notifications/cancelled') return sent;
    const { requestId } = message.params as { requestId: RequestId };
    const notified = within(CANCEL_WITHIN_MS, sent);
    this.#cancellations.add(notified);
    await notified;
    this.#cancellations.delete(notified);
    this.exchanges.drop(requestId);
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message) {
      if ('id' in message && ++this.#serverRequests > MAX_SERVER_REQUESTS) {
        return this.#break(protocolError('The MCP server makes too many requests of its own.'));
      }
      return this.onmessage?.(message);
    }
    const state = this.exchanges.close(message.id);
    if (state === 'open') this.onmessage?.(message);
    if (state !== 'unknown') return;
    const error = protocolError('The MCP server answered a request that was not made.');
    this.exchanges.fail(this.exchanges.current, error);
  }

  /**
   * If the SDK drops a message that it cannot parse, fails the request of that message, or all requests if that one is
   * unknown, because the message may have been an answer.
   */
  #notice(error: Error): void {
    if (error instanceof SyntaxError || error.name.endsWith('ZodError'))
      this.exchanges.fail(this.exchanges.current, toMcpError(error));
  }

  #break(error: McpError): void {
    if (this.#brokenBy !== undefined) return;
    this.#brokenBy = error;
    this.#onBroken(error);
    this.exchanges.fail(undefined, error.afterSend());
    void this.#inner.close();
  }
}

function protocolError(message: string): McpError {
  return new McpError('mcp_protocol', message, false);
}

async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  const timeUp = new AbortController();
  const settled = work.catch(() => undefined);
  await Promise.race([settled, pause(timeoutMs, undefined, { signal: timeUp.signal }).catch(() => undefined)]);
  timeUp.abort();
}
