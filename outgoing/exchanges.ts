// The open requests of one MCP session. If an answer breaks off, is invalid or has the id of no request, the SDK leaves
// the request waiting until its time-out. The code that detects such an answer fails the request here at once.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { McpError } from './mcp-error.js';
import type { MessageSize, Reserve } from './message-size.js';

export interface McpExchange {
  readonly id: number;
  /** Aborts the HTTP requests that wait for the answer. */
  readonly hangUp: AbortController;
  /** True if the server has answered the POST of the request with an event stream. */
  isStreaming: boolean;
  /** The number of consecutive failed attempts to resume a broken stream. */
  failedResumes: number;
  resumedAtMs: number;
  /** The id after which the stream was last resumed; undefined if it has not been resumed. */
  lastEventId: string | undefined;
  readonly reserve: Reserve;
}

/** The session and request on whose behalf the current code runs. */
interface Current {
  of: McpExchanges;
  exchange: McpExchange | undefined;
  /** Reserves the memory for the answers of requests that this code starts. */
  reserve?: Reserve;
}

/**
 * Identifies the message for which a connection is opened or a stream is read, because the SDK does not pass the
 * message on. All sessions share one storage: Node.js 20 never frees a storage, and each slows all promises.
 */
const current = new AsyncLocalStorage<Current>();

export class McpExchanges {
  readonly #open = new Map<number, McpExchange>();
  readonly #deliver: (answer: JSONRPCErrorResponse) => void;
  #lastId = -1;

  /** `deliver` passes an answer to the SDK as if the server had sent it. */
  constructor(deliver: (answer: JSONRPCErrorResponse) => void) {
    this.#deliver = deliver;
  }

  begin(requestId: RequestId): McpExchange {
    const id = Number(requestId);
    const hangUp = new AbortController();
    const { reserve = refuseLargeMessage } = this.#store ?? {};
    const resumes = { failedResumes: 0, resumedAtMs: 0, lastEventId: undefined };
    const exchange: McpExchange = { id, hangUp, isStreaming: false, ...resumes, reserve };
    this.#open.set(id, exchange);
    this.#lastId = Math.max(this.#lastId, id);
    return exchange;
  }

  run<T>(exchange: McpExchange | undefined, act: () => T): T {
    return current.run({ of: this, exchange }, act);
  }

  /**
   * Requests that start in `act` reserve memory for their answers with `reserve`. Other
   * requests may have small answers only.
   */
  reserving<T>(reserve: Reserve, act: () => T): T {
    return current.run({ of: this, exchange: undefined, reserve }, act);
  }

  /**
   * Reserves memory for a message that has grown to this size. If its request is unknown, any open request of the
   * session will do, because a session serves one run only, or one request to the API.
   */
  reserve(exchange: McpExchange | undefined, size: MessageSize): Promise<void> | undefined {
    const [oldest] = this.#open.values();
    const holder = exchange ?? oldest;
    return holder !== undefined && this.isOpen(holder) ? holder.reserve(size) : refuseLargeMessage(size);
  }

  get current(): McpExchange | undefined {
    return this.#store?.exchange;
  }

  get #store(): Current | undefined {
    const store = current.getStore();
    return store?.of === this ? store : undefined;
  }

  isOpen(exchange: McpExchange | undefined): boolean {
    return exchange !== undefined && this.#open.get(exchange.id) === exchange;
  }

  /** `open`: deliver the answer. `late`: nobody waits for the answer any more. `unknown`: no such request was made. */
  close(responseId: RequestId | undefined): 'open' | 'late' | 'unknown' {
    const id = Number(responseId);
    if (this.#open.delete(id)) return 'open';
    return Number.isInteger(id) && id >= 0 && id <= this.#lastId ? 'late' : 'unknown';
  }

  /** Removes a request, and aborts its HTTP requests. Ignores a request that is not open. */
  drop(requestId: RequestId | undefined): void {
    const exchange = this.#open.get(Number(requestId));
    if (exchange === undefined) return;
    this.#open.delete(exchange.id);
    exchange.hangUp.abort();
  }

  /** Fails this request, or all open ones if `exchange` is undefined. Ignores a request that is not open any more. */
  fail(exchange: McpExchange | undefined, error: McpError): void {
    const failed = exchange === undefined ? [...this.#open.values()] : [exchange];
    for (const each of failed) {
      if (!this.isOpen(each)) continue;
      this.drop(each.id);
      this.#deliver({ jsonrpc: '2.0', id: each.id, error: { code: 0, message: error.message, data: error } });
    }
  }
}

/** The limits on a message whose request reserves no memory. */
const SMALL_BYTES = 1024 * 1024;
const SMALL_VALUES = 20_000;

function refuseLargeMessage({ bytes, values }: MessageSize): undefined {
  if (bytes <= SMALL_BYTES && values <= SMALL_VALUES) return;
  throw new McpError('response_too_large', 'The MCP server sent a message larger than allowed here.', false);
}
