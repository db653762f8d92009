// The HTTP client for requests to addresses that users name: those of HTTP nodes and actions, tests of connections,
// webhooks, token providers and OpenAPI documents. It refuses addresses (address-guard.ts), follows redirects, and
// limits size and time.
import { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import type { AddressRules } from './refused-addresses.js';
import { createConnections } from './connections.js';
import { headerText } from './header-text.js';
import { noteAddress, notePerformed } from './network-error.js';
import { decodeWithin, TooManyEncodingsError, readBody } from './response-body.js';
import { startDeadline, type PausableDeadline } from './pausable-deadline.js';
import { tracedCall } from './traced-call.js';
import { untilAborted } from './until-aborted.js';

export interface OutgoingRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | StreamedBody | undefined;
  /** The time until the answer is complete, including name lookup, connecting and all redirects. */
  timeoutMs: number;
  signal: AbortSignal;
  /** The owner of the request. A request without an owner, or one that is not repeatable, opens a new connection. */
  tenant?: string;
  /**
   * Adds a credential to the request, and to each request to which a redirect leads. If this function throws, the
   * request ends before anything is sent to `url`.
   */
  authorize?:
    | ((request: { url: URL; headers: Record<string, string> }) => { url: URL; headers: Record<string, string> })
    | undefined;
  /** Names of headers that hold a secret although their names do not indicate it. */
  secretHeaders?: string[];
  /** True if the host comes from an input and may be a secret. Traces then omit it. */
  hidesHost?: boolean;
  /** Default true. If false, a redirect is returned like any other answer. */
  followRedirects?: boolean;
  /** Default true. If false, the answer is complete with its headers, and `body` is empty. */
  readBody?: boolean;
  /**
   * Called with the total size before more bytes of the answer are stored. While its promise is pending, nothing more
   * is read, and the time does not count towards `timeoutMs`, up to two minutes in all.
   */
  reserve?: (bytes: number) => Promise<void> | undefined;
  /**
   * Called with the head of an answer. Returns a function that consumes the decoded body as a stream, and whose result
   * becomes the body of the answer; `reserve` and the limit on bodies do not apply then. Returns undefined if the body
   * is to be read as usual.
   */
  consume?: ((head: AnswerHead) => ConsumeBody | undefined) | undefined;
  /** The limit on the decoded size of a body that is consumed as a stream. Default 10 MiB. */
  maxConsumedBytes?: number;
}

/** A body of known length, sent as a stream that is opened again for each redirect that sends the body again. */
export interface StreamedBody {
  bytes: number;
  open: () => Promise<Readable>;
}

export type AnswerHead = Pick<OutgoingResponse, 'status' | 'headers'>;

export type ConsumeBody = (body: Readable) => Promise<Buffer>;

export interface OutgoingResponse {
  status: number;
  headers: Record<string, string>;
  /** Each `Set-Cookie` separately: `headers` joins them with commas, which a cookie may contain. */
  setCookie: string[];
  body: Buffer;
  /**
   * True if a server has carried out the request and redirected it to a GET, whose answer this is. The status then says
   * nothing about the request itself.
   */
  isPerformed: boolean;
}

export interface OutgoingClient {
  /**
   * Throws `OutgoingError`, the error of a function in `outgoing`, or the error of the network, whose address
   * `addressOf` returns. `wasPerformed` tells if a server had carried out the request before.
   */
  send(outgoing: OutgoingRequest): Promise<OutgoingResponse>;
  close(): Promise<void>;
}

export class OutgoingError extends Error {
  override name = 'OutgoingError';
  readonly code: 'invalid_response' | 'invalid_url' | 'response_too_large' | 'too_many_redirects' | 'timeout';

  constructor(code: OutgoingError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const MAX_REDIRECTS = 5;
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
/** An ignored body is read up to this size and for this long, so that the server can end its answer. */
const MAX_IGNORED_BYTES = 64 * 1024;
const IGNORED_BODY_MS = 1_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Answers with these statuses have no body, whatever their headers announce. */
const BODILESS = new Set([204, 205, 304]);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** Matches broadly, because another origin has no use for headers with such names. */
const CREDENTIAL_HEADER = /auth|cookie|credential|key|passw|referer|secret|session|signature|token/i;
/** Sent to every target. It is not a credential, although its name ends in `-key`. */
const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Returns true if a request may be repeated without repeating its effect (RFC 9110, idempotent methods). */
export function isRepeatable(method: string): boolean {
  return SAFE_METHODS.has(method);
}

export function createOutgoingClient(rules: AddressRules): OutgoingClient {
  const connections = createConnections(rules);
  return {
    async send(outgoing) {
      const { tenant } = outgoing;
      const deadline = startDeadline(outgoing.timeoutMs, outgoing.signal);
      const progress: Progress = { isPerformed: false };
      const marked = (error: unknown): unknown => (progress.isPerformed ? notePerformed(error) : error);
      try {
        return await follow(outgoing, deadline, progress, (method) => {
          // The server may close a persistent connection just as a request is sent on it. Whether the request was read
          // is then unknown, so a request that must not be repeated opens a new connection.
          return tenant !== undefined && isRepeatable(method) ? connections.persistentFor(tenant) : connections.oneShot;
        });
      } catch (error) {
        if (deadline.signal.aborted && !outgoing.signal.aborted) {
          throw marked(new OutgoingError('timeout', `No complete answer within ${outgoing.timeoutMs / 1000} seconds.`));
        }
        if (error instanceof TooManyEncodingsError) throw marked(new OutgoingError('invalid_response', error.message));
        throw marked(error);
      } finally {
        deadline.clear();
      }
    },
    close: () => connections.close(),
  };
}

interface Progress {
  /** True once a redirect has turned the request into a GET: the server has carried out the request then. */
  isPerformed: boolean;
}

async function follow(
  first: OutgoingRequest,
  deadline: PausableDeadline,
  progress: Progress,
  dispatcherFor: (method: string) => Dispatcher,
): Promise<OutgoingResponse> {
  let { url, method, headers, body } = first;
  const { signal } = deadline;
  for (let redirects = 0; ; redirects++) {
    assertHttp(url);
    if (typeof body === 'object') headers = withLength(headers, body.bytes);
    // Authorizes before the body is opened, because nothing would close the body if `authorize` throws.
    const authorized = first.authorize?.({ url, headers }) ?? { url, headers };
    const showHost = first.hidesHost !== true && url.hostname === first.url.hostname;
    const stream = typeof body === 'object' ? await body.open() : undefined;
    // Chosen after the body is opened, because the persistent connections of a tenant may be closed meanwhile.
    const dispatcher = dispatcherFor(method);
    const sent = { method, body: stream ?? (body as string | undefined) ?? null, signal, dispatcher };
    const from = url;
    const answer = await tracedCall(
      { url, method, headers: authorized.headers, showHost },
      ({ statusCode }: Dispatcher.ResponseData) => statusCode,
      // undici ignores the signal while it connects. A request that is aborted then is never sent, so its end need not
      // be awaited.
      (tracedHeaders) => untilAborted(request(authorized.url, { ...sent, headers: tracedHeaders }), signal),
    ).catch((error: unknown) => {
      throw noteAddress(error, from);
    });
    const location = first.followRedirects === false ? undefined : redirectOf(answer);
    if (location === undefined) {
      const response = await toResponse(answer, method, first, deadline).catch((error: unknown) => {
        throw noteAddress(error, from);
      });
      return { ...response, isPerformed: progress.isPerformed };
    }
    letEnd(answer.body);
    if (redirects === MAX_REDIRECTS) {
      throw new OutgoingError('too_many_redirects', `More than ${MAX_REDIRECTS} redirects.`);
    }
    const target = toUrl(location, url);
    if (target.origin !== url.origin) headers = withoutCredentials(headers, first.secretHeaders ?? []);
    if (answer.statusCode === 303 || (answer.statusCode <= 302 && method === 'POST')) {
      progress.isPerformed = true;
      if (method !== 'HEAD') method = 'GET';
      body = undefined;
      headers = withoutHeader(headers, /^content-/i);
    }
    url = target;
  }
}

function withLength(headers: Record<string, string>, bytes: number): Record<string, string> {
  return { ...withoutHeader(headers, /^content-length$/i), 'content-length': String(bytes) };
}

/** Returns the target of a redirect, or undefined. A redirect without a target does not count as one. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  const { location } = headers;
  if (!REDIRECTS.has(statusCode) || typeof location !== 'string' || location.trim() === '') return undefined;
  return headerText(location);
}

async function toResponse(
  answer: Dispatcher.ResponseData,
  method: string,
  { readBody: shouldReadBody = true, reserve, consume, maxConsumedBytes = MAX_RESPONSE_BYTES }: OutgoingRequest,
  deadline: PausableDeadline,
): Promise<Omit<OutgoingResponse, 'isPerformed'>> {
  const status = answer.statusCode;
  const headers = flatten(answer.headers);
  const head = { status, headers, setCookie: [answer.headers['set-cookie'] ?? []].flat().map(headerText) };
  const announcedBytes = lengthOf(headers);
  // The headers of an answer to HEAD describe a body that it does not have.
  const isBodiless = method === 'HEAD' || BODILESS.has(status) || announcedBytes === 0;
  if (isBodiless || !shouldReadBody) letEnd(answer.body);
  if (!shouldReadBody) return { ...head, body: Buffer.alloc(0) };
  const consumeBody = method === 'HEAD' ? undefined : consume?.({ status, headers });
  if (isBodiless) return { ...head, body: (await consumeBody?.(Readable.from([]))) ?? Buffer.alloc(0) };
  const encoding = headers['content-encoding'];
  if (consumeBody !== undefined) {
    const decoded = decodeWithin(answer.body, { encoding, limitBytes: maxConsumedBytes, signal: deadline.signal });
    try {
      return { ...head, body: await consumeBody(decoded) };
    } catch (error) {
      // The consumer may have stopped without destroying the stream. The socket would then stay open.
      decoded.destroy();
      throw error;
    }
  }
  const waitFor = (bytes: number) => {
    const granted = reserve?.(bytes);
    return granted && deadline.outside(granted);
  };
  const body = await readBody(answer.body, {
    encoding,
    announcedBytes,
    limitBytes: MAX_RESPONSE_BYTES,
    signal: deadline.signal,
    reserve: waitFor,
  });
  if (body === undefined) throw new OutgoingError('response_too_large', 'The response is larger than 10 MiB.');
  return { ...head, body };
}

/**
 * Reads the rest of a body in the background. A timer limits this, because the time limit of the request is cleared
 * when `send` returns.
 */
function letEnd(body: Dispatcher.ResponseData['body']): void {
  const timer = setTimeout(() => body.destroy(), IGNORED_BODY_MS);
  // The answer is complete, so an error in the ignored rest does not matter.
  void body.dump({ limit: MAX_IGNORED_BYTES }).catch(() => undefined);
  body.once('close', () => clearTimeout(timer));
}

/** Throws `OutgoingError` for anything but an http or https URL. */
export function toUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new OutgoingError('invalid_url', 'The URL is not valid.');
  const url = new URL(text, base?.href);
  assertHttp(url);
  return url;
}

function assertHttp(url: URL): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new OutgoingError('invalid_url', 'Only http and https URLs can be requested.');
  }
}

function lengthOf(headers: Record<string, string>): number | undefined {
  const length = headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().map(headerText).join(', ')]),
  );
}

function withoutCredentials(headers: Record<string, string>, secretHeaders: string[]): Record<string, string> {
  const isCredential = (name: string): boolean =>
    name.toLowerCase() === IDEMPOTENCY_HEADER ? false : CREDENTIAL_HEADER.test(name) || secretHeaders.includes(name);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isCredential(name)));
}

function withoutHeader(headers: Record<string, string>, pattern: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !pattern.test(name)));
}
