// The requests of one MCP session that wait for their answers. The SDK leaves a request waiting until its time is up when
// the answer breaks off, is garbage, or answers something else; whoever notices fails it here, at once.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { McpError } from './mcp-error.js';

export interface Exchange {
  readonly id: number;
  /** Ends the HTTP requests that wait for the answer. */
  readonly hangUp: AbortController;
  /** The answer comes in an event stream. */
  isStreaming: boolean;
  /** Attempts in a row to get the rest of a broken stream that failed. */
  failedResumes: number;
  resumedAtMs: number;
}

export class Exchanges {
  readonly #open = new Map<number, Exchange>();
  /** The SDK does not say for which message it opens a connection or reads a stream: this does. */
  readonly #current = new AsyncLocalStorage<Exchange | undefined>();
  readonly #deliver: (answer: JSONRPCErrorResponse) => void;
  #lastId = -1;

  /** `deliver` hands an answer to the SDK as if the server had sent it. */
  constructor(deliver: (answer: JSONRPCErrorResponse) => void) {
    this.#deliver = deliver;
  }

  begin(requestId: RequestId): Exchange {
    const id = Number(requestId);
    const hangUp = new AbortController();
    const exchange = { id, hangUp, isStreaming: false, failedResumes: 0, resumedAtMs: 0 };
    this.#open.set(id, exchange);
    this.#lastId = Math.max(this.#lastId, id);
    return exchange;
  }

  run<T>(exchange: Exchange | undefined, act: () => T): T {
    return this.#current.run(exchange, act);
  }

  get current(): Exchange | undefined {
    return this.#current.getStore();
  }

  isOpen(exchange: Exchange | undefined): boolean {
    return exchange !== undefined && this.#open.get(exchange.id) === exchange;
  }

  /** `open`: pass it on. `late`: nobody waits any more. `unknown`: no such request was made. */
  settle(responseId: RequestId | undefined): 'open' | 'late' | 'unknown' {
    const id = Number(responseId);
    if (this.#open.delete(id)) return 'open';
    return Number.isInteger(id) && id >= 0 && id <= this.#lastId ? 'late' : 'unknown';
  }

  /** Nobody waits for it any more; its connection is closed. */
  drop(requestId: RequestId | undefined): void {
    const exchange = this.#open.get(Number(requestId));
    if (exchange === undefined) return;
    this.#open.delete(exchange.id);
    exchange.hangUp.abort();
  }

  /** Fails one request, or all where it is not known which one is meant. Nothing happens to one that has its answer. */
  fail(exchange: Exchange | undefined, error: McpError): void {
    const failed = exchange === undefined ? [...this.#open.values()] : [exchange];
    for (const each of failed) {
      if (!this.isOpen(each)) continue;
      this.drop(each.id);
      this.#deliver({ jsonrpc: '2.0', id: each.id, error: { code: 0, message: error.message, data: error } });
    }
  }
}
