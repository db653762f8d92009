// The HTTP access of the SDK's transports: through the address guard, to one origin only, with limits on the answers.
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  Agent,
  fetch as undiciFetch,
  DecoratorHandler,
  type buildConnector,
  type Dispatcher,
  type RequestInit as UndiciRequestInit,
} from 'undici';
import { createGuardedConnector } from './address-guard.js';
import type { AddressRules } from './refused-addresses.js';
import { isEventStream } from './event-stream-type.js';
import { unmarkNumbers } from './exact-numbers.js';
import type { McpExchange, McpExchanges } from './exchanges.js';
import { headerText } from './header-text.js';
import { McpError, McpStatusError } from './mcp-error.js';
import { brokenOff, limitBody, limitEvents, MAX_STREAM_BYTES, type StreamEnd } from './message-limits.js';
import { MAX_MESSAGE_BYTES, type MessageSize } from './message-size.js';
import { causeCode, causesOf, toAddress } from './network-error.js';
import { decodeBody, TooManyEncodingsError } from './response-body.js';
import { tracedCall } from './traced-call.js';

export interface McpNetwork {
  dispatcher: Dispatcher;
  /** Returns true if this error occurred while connecting, so that nothing was sent. */
  isUnsent(error: unknown): boolean;
}

export function createMcpNetwork(rules: AddressRules): McpNetwork {
  const unsent = new WeakSet<Error>();
  const guarded = createGuardedConnector(rules);
  const connect: buildConnector.connector = (target, callback) => {
    guarded(target, (error, socket) => {
      if (error === null) return callback(null, socket);
      unsent.add(error);
      callback(error, null);
    });
  };
  // Every request opens a new connection. On a persistent one, it can be unknown if the server has read a tool call.
  const agent = new Agent({ connect, pipelining: 0, headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: 64 * 1024 });
  const dispatcher = agent.compose(withoutDecoding);
  return { dispatcher, isUnsent: (error) => [...causesOf(error)].some((cause) => unsent.has(cause)) };
}

interface McpFetchOptions {
  network: McpNetwork;
  origin: string;
  transport: 'sse' | 'streamable_http';
  exchanges: McpExchanges;
  /** Called when the session cannot continue, because its only stream broke or never opened. */
  onBroken(error: McpError): void;
}

export function createMcpFetch(options: McpFetchOptions): FetchLike {
  const { origin, transport, exchanges } = options;
  return async (input, init = {}) => {
    const url = new URL(input);
    if (url.origin !== origin) throw anotherOrigin();
    const request = { url, init, headers: new Headers(init.headers), exchange: exchanges.current };
    if (init.method === 'POST') return sendMessage(options, request);
    if (init.method === 'DELETE') return send(options, request);
    if (transport === 'streamable_http') {
      // If a resumed stream ends before another event with an id, the SDK forgets the id and requests a new stream.
      const lastEventId = request.headers.get('last-event-id') ?? request.exchange?.lastEventId;
      if (lastEventId !== undefined) return resume(options, request, lastEventId);
      // A new stream is for requests of the server. We support only `ping`, which is not worth an open connection.
      return new Response(null, { status: 405 });
    }
    try {
      const response = await check(await send(options, request), request, transport);
      return limited(options, request, response, ({ error }) => options.onBroken(error ?? brokenOff()));
    } catch (error) {
      if (error instanceof McpError) options.onBroken(error);
      throw error;
    }
  };
}

interface Outgoing {
  url: URL;
  init: RequestInit;
  headers: Headers;
  exchange: McpExchange | undefined;
}

async function sendMessage(options: McpFetchOptions, request: Outgoing): Promise<Response> {
  const response = await check(await send(options, request), request, options.transport);
  const { exchange } = request;
  if (exchange === undefined || !isEventStream(response.headers.get('content-type')))
    return limited(options, request, response, () => undefined);
  exchange.isStreaming = true;
  return limited(options, request, response, (end) => endOfStream(options.exchanges, exchange, end));
}

/** After this number of consecutive failed attempts, the SDK gives up and reports no error to the caller. */
export const MAX_RESUMES = 2;
/** The least time between attempts to resume a stream, even if the server requests a reconnect without delay. */
const RESUME_PAUSE_MS = 1_000;

/** Requests the rest of a stream that ended before its answer came. */
async function resume(options: McpFetchOptions, request: Outgoing, lastEventId: string): Promise<Response> {
  const { exchanges } = options;
  const { exchange, headers } = request;
  if (exchange === undefined || !exchanges.isOpen(exchange)) throw brokenOff();
  exchange.lastEventId = lastEventId;
  headers.set('last-event-id', lastEventId);
  try {
    const waitMs = exchange.resumedAtMs + RESUME_PAUSE_MS - Date.now();
    if (waitMs > 0) await pause(waitMs, undefined, { signal: exchange.hangUp.signal });
    exchange.resumedAtMs = Date.now();
    const response = await check(await send(options, request), request, options.transport);
    // The SDK does not report an answer without a body, such as a 204, and takes any other for an empty stream.
    if (response.ok && !isEventStream(response.headers.get('content-type'))) {
      await response.body?.cancel();
      throw new McpError('mcp_protocol', 'The MCP server did not open an event stream.', false);
    }
    exchange.failedResumes = 0;
    return limited(options, request, response, (end) => {
      endOfStream(exchanges, exchange, { ...end, isResumable: true });
    });
  } catch (thrown) {
    const error = thrown instanceof McpError ? thrown : brokenOff();
    exchange.failedResumes += 1;
    const isFinal = error instanceof McpStatusError && error.status < 500;
    if (isFinal || exchange.failedResumes >= MAX_RESUMES) exchanges.fail(exchange, error.afterSend());
    throw error;
  }
}

/** A request fails this long after the end of a stream that cannot be resumed: the SDK may still be parsing it. */
const PARSED_AFTER_MS = 50;

function endOfStream(exchanges: McpExchanges, exchange: McpExchange, { error, isResumable }: StreamEnd): void {
  if (error?.code === 'response_too_large') exchanges.fail(exchange, error);
  else if (!isResumable) setTimeout(() => exchanges.fail(exchange, error ?? brokenOff()), PARSED_AFTER_MS);
}

function stopSignal({ init, exchange }: Outgoing): AbortSignal {
  return AbortSignal.any([init.signal, exchange?.hangUp.signal].filter((signal) => signal instanceof AbortSignal));
}

async function send({ network }: McpFetchOptions, request: Outgoing): Promise<Response> {
  const { url, init, headers } = request;
  const method = init.method ?? 'GET';
  const sent = {
    method,
    body: typeof init.body === 'string' ? unmarkNumbers(init.body) : (init.body ?? null),
    redirect: 'manual',
    signal: stopSignal(request),
    dispatcher: network.dispatcher,
  } as UndiciRequestInit;
  try {
    return await tracedCall(
      { url, method, headers: Object.fromEntries(headers) },
      ({ status }) => status,
      (tracedHeaders) => undiciFetch(url, { ...sent, headers: tracedHeaders }),
    );
  } catch (error) {
    throw toNetworkError(error, network.isUnsent(error), url);
  }
}

function toNetworkError(error: unknown, isUnsent: boolean, url: URL): McpError {
  const code = causeCode(error);
  if (code === 'blocked_address') return new McpError(code, 'The address is not allowed: it is not public.', true);
  // Fetch refuses ports of other protocols, such as 22 and 25.
  if ([...causesOf(error)].some(({ message }) => message === 'bad port')) {
    return new McpError('blocked_address', 'The address is not allowed: its port is that of another protocol.', true);
  }
  const message = isUnsent
    ? `The MCP server at ${toAddress(url)} could not be reached: ${code}.`
    : `The connection to the MCP server at ${toAddress(url)} broke: ${code}.`;
  return new McpError('mcp_unreachable', message, isUnsent);
}

/** Other redirects turn a POST into a GET. */
const KEEPS_METHOD = new Set([307, 308]);

/**
 * Accepts a success, and a redirect within the origin that keeps the method, which the SDK follows. Throws `McpError`
 * for any other answer.
 */
async function check(
  response: Response,
  request: Outgoing,
  transport: McpFetchOptions['transport'],
): Promise<Response> {
  const { url, init, headers } = request;
  if (response.ok) return response;
  const location = headerText(response.headers.get('location') ?? '');
  if (response.status >= 300 && response.status < 400 && location !== '') {
    const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    const isInside = target?.origin === url.origin;
    await response.body?.cancel();
    // The SDK's SSE transport sends its GET without a method.
    if (isInside && ((init.method ?? 'GET') === 'GET' || KEEPS_METHOD.has(response.status))) {
      return new Response(null, { status: response.status, headers: { location: target.href } });
    }
    throw isInside ? new McpStatusError(response.status, false) : anotherOrigin();
  }
  // The SDK sends the protocol version once the server has answered `initialize`, with or without a session id.
  const isPostOfSse = transport === 'sse' && init.method === 'POST';
  const isLost =
    response.status === 404
      ? isPostOfSse || headers.has('mcp-protocol-version')
      : (isPostOfSse || headers.has('mcp-session-id')) && (await reportsSessionLost(response, request));
  if (!response.bodyUsed) await response.body?.cancel();
  throw new McpStatusError(response.status, isLost);
}

function anotherOrigin(): McpError {
  return new McpError('mcp_protocol', 'The MCP server leads to another origin, which is not followed.', false);
}

const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Returns true for a lost session with status 400. The protocol uses 404, but servers made from the SDK's examples
 * answer 400 and mention the session.
 */
async function reportsSessionLost(response: Response, request: Outgoing): Promise<boolean> {
  if (response.status !== 400 || response.body === null) return false;
  const text = await new Response(limitBody(decoded(response, request, MAX_ERROR_BYTES), refuseLargeError))
    .text()
    .catch(() => '');
  return /session/i.test(text);
}

function refuseLargeError({ bytes }: MessageSize): undefined {
  if (bytes > MAX_ERROR_BYTES) throw brokenOff();
}

function decoded(response: Response, request: Outgoing, limitBytes: number): Readable {
  const body = Readable.fromWeb(response.body as WebStream<Uint8Array>).on('error', () => undefined);
  const encoding = response.headers.get(ENCODING_HEADER) ?? undefined;
  try {
    // Without a listener, an error while nobody reads would end the process.
    return decodeBody(body, { encoding, limitBytes, signal: stopSignal(request) }).on('error', () => undefined);
  } catch (error) {
    if (!(error instanceof TooManyEncodingsError)) throw error;
    throw new McpError('mcp_protocol', `The MCP server cannot be understood: ${error.message}`, false);
  }
}

function limited(
  { exchanges }: McpFetchOptions,
  request: Outgoing,
  response: Response,
  onEnd: (end: StreamEnd) => void,
): Response {
  const { status, headers, body } = response;
  if (body === null || (status >= 300 && status < 400)) return response;
  const reserve = (size: MessageSize) => exchanges.reserve(request.exchange, size);
  const limitedBody = isEventStream(response.headers.get('content-type'))
    ? limitEvents(decoded(response, request, MAX_STREAM_BYTES), reserve, onEnd)
    : limitBody(decoded(response, request, MAX_MESSAGE_BYTES), reserve);
  return new Response(limitedBody, { status, headers: Object.fromEntries(headers) });
}

/** Carries the `content-encoding` of an answer through `fetch`. */
const ENCODING_HEADER = 'x-encoding-of-answer';

type AnswerStart = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>;
type Handler = new (
  handler: Dispatcher.DispatchHandler,
) => Dispatcher.DispatchHandler & { onResponseStart(...start: AnswerStart): void };

/** Hides the encoding of answers from `fetch`, whose decoders have no limit and outlive the request. */
class UndecodedAnswer extends (DecoratorHandler as Handler) {
  override onResponseStart(...[controller, status, headers, text]: AnswerStart): void {
    // Any number of informational answers may come before the final one, and `fetch` ignores them.
    if (status < 200) return;
    const { 'content-encoding': encoding, [ENCODING_HEADER]: _sent, ...rest } = headers;
    const hidden = encoding === undefined ? rest : { ...rest, [ENCODING_HEADER]: encoding };
    super.onResponseStart(controller, status, hidden, text);
  }
}

function withoutDecoding(dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] {
  return (options, handler) => dispatch(options, new UndecodedAnswer(handler));
}
