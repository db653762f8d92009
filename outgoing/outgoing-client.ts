// One HTTP client for everything that a user's graph asks for: address guard, redirects, size and time limits.
import { request, type Dispatcher } from 'undici';
import { createConnections } from './connections.js';
import { startDeadline, type PausableDeadline } from './pausable-deadline.js';
import { readBody, TooManyEncodingsError } from './response-body.js';
import { tracedCall } from './traced-call.js';
import { untilAborted } from './until-aborted.js';

export interface OutgoingRequest {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** To the complete answer: looking the name up, connecting and all redirects count. */
  timeoutMs: number;
  signal: AbortSignal;
  /** Whose request it is. Without it the request has a connection of its own. */
  tenant?: string;
  /** Names of headers that hold a secret although their names do not say so. */
  secretHeaders?: string[];
  /** The host was made of an input, which may be a secret: a trace does not name it. */
  hidesHost?: boolean;
  /** Default true. Otherwise a redirect is an answer like any other. */
  followRedirects?: boolean;
  /** Default true. Otherwise the answer is complete with its headers and `body` is empty. */
  readBody?: boolean;
  /**
   * Asked before so many bytes of the answer in all are kept; while its promise is open nothing more is read. That time
   * does not count against `timeoutMs`.
   */
  reserve?: (bytes: number) => Promise<void> | undefined;
}

export interface OutgoingResponse {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

export interface OutgoingClient {
  /** Throws OutgoingError, or what the network threw. */
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
/** How much of a body that nobody wants is let through, and how long, so that the other side can end its answer. */
const MAX_IGNORED_BYTES = 64 * 1024;
const IGNORED_BODY_MS = 1_000;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** Rather too much than too little: another origin has no use for what is named like this. */
const CREDENTIAL_HEADER = /auth|cookie|credential|key|passw|referer|secret|session|signature|token/i;
/** Part of every request we make, whoever the target is: not a credential although it ends in `-key`. */
const IDEMPOTENCY_HEADER = 'idempotency-key';

/** Whether a request may be sent twice without doing its work twice (RFC 9110, idempotent methods). */
export function isRepeatable(method: string): boolean {
  return SAFE_METHODS.has(method);
}

export function createOutgoingClient(options: { allowPrivateNetwork: boolean }): OutgoingClient {
  const connections = createConnections(options);
  return {
    async send(outgoing) {
      const { tenant } = outgoing;
      const deadline = startDeadline(outgoing.timeoutMs, outgoing.signal);
      try {
        return await follow(outgoing, deadline, (method) => {
          // A kept connection may be closed by the other side just as a request leaves on it; whether the request was
          // read is then unknown. What may not be repeated therefore gets a connection of its own.
          return tenant !== undefined && isRepeatable(method) ? connections.keptFor(tenant) : connections.oneShot;
        });
      } catch (error) {
        if (deadline.signal.aborted && !outgoing.signal.aborted) {
          throw new OutgoingError('timeout', `No complete answer within ${outgoing.timeoutMs / 1000} seconds.`);
        }
        if (error instanceof TooManyEncodingsError) throw new OutgoingError('invalid_response', error.message);
        throw error;
      } finally {
        deadline.clear();
      }
    },
    close: () => connections.close(),
  };
}

async function follow(
  first: OutgoingRequest,
  deadline: PausableDeadline,
  dispatcherFor: (method: string) => Dispatcher,
): Promise<OutgoingResponse> {
  let { url, method, headers, body } = first;
  const { signal } = deadline;
  for (let redirects = 0; ; redirects++) {
    assertHttp(url);
    const dispatcher = dispatcherFor(method);
    // Until it is connected, undici does not heed the signal; such a request is never sent, only its end not waited for.
    const showHost = first.hidesHost !== true && url.hostname === first.url.hostname;
    const sent = { method, body: body ?? null, signal, dispatcher };
    const answer = await tracedCall(
      { url, method, headers, showHost },
      ({ statusCode }: Dispatcher.ResponseData) => statusCode,
      (tracedHeaders) => untilAborted(request(url, { ...sent, headers: tracedHeaders }), signal),
    );
    const location = first.followRedirects === false ? undefined : redirectOf(answer);
    if (location === undefined) return toResponse(answer, method, first, deadline);
    letEnd(answer.body);
    if (redirects === MAX_REDIRECTS) {
      throw new OutgoingError('too_many_redirects', `More than ${MAX_REDIRECTS} redirects.`);
    }
    const target = toUrl(location, url);
    if (target.origin !== url.origin) headers = withoutCredentials(headers, first.secretHeaders ?? []);
    if (answer.statusCode === 303 || (answer.statusCode <= 302 && method === 'POST')) {
      if (method !== 'HEAD') method = 'GET';
      body = undefined;
      headers = withoutHeader(headers, /^content-/i);
    }
    url = target;
  }
}

/** Where the answer sends its reader; undefined when it is no redirect. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  const { location } = headers;
  return REDIRECTS.has(statusCode) && typeof location === 'string' ? location : undefined;
}

async function toResponse(
  answer: Dispatcher.ResponseData,
  method: string,
  { readBody: shouldReadBody = true, reserve }: OutgoingRequest,
  deadline: PausableDeadline,
): Promise<OutgoingResponse> {
  const headers = flatten(answer.headers);
  if (!shouldReadBody) {
    letEnd(answer.body);
    return { status: answer.statusCode, headers, body: Buffer.alloc(0) };
  }
  const waitFor = (bytes: number) => {
    const granted = reserve?.(bytes);
    return granted && deadline.outside(granted);
  };
  const body = await readBody(answer.body, {
    // The answer to HEAD tells of a body that it does not have.
    encoding: method === 'HEAD' ? undefined : headers['content-encoding'],
    announcedBytes: method === 'HEAD' ? undefined : lengthOf(headers),
    limitBytes: MAX_RESPONSE_BYTES,
    reserve: waitFor,
  });
  if (body === undefined) throw new OutgoingError('response_too_large', 'The response is larger than 10 MiB.');
  return { status: answer.statusCode, headers, body };
}

/** Not waited for. By a timer: nobody holds the request's signal any more, and what is not held may be collected. */
function letEnd(body: Dispatcher.ResponseData['body']): void {
  const timer = setTimeout(() => body.destroy(), IGNORED_BODY_MS);
  // That it broke off says nothing about an answer that is complete.
  void body.dump({ limit: MAX_IGNORED_BYTES }).catch(() => undefined);
  body.once('close', () => clearTimeout(timer));
}

/** Throws OutgoingError for what is no http or https URL. */
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
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
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
