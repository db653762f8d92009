// Makes requests to token providers for the OAuth libraries: through the address guard, without redirects, and with
// small answers. Converts answers that deviate from the standard.
import { decodeJwt } from 'jose';
import { parseJsonOrUndefined, writeJson } from '../graph/json-text.js';
import { isObject } from '../graph/json.js';
import { cutText } from '../graph/cut-text.js';
import { MOST_BYTES } from '../outgoing/fetch-small.js';
import type { OutgoingClient, OutgoingResponse } from '../outgoing/outgoing-client.js';
import { retryAfterMs } from '../outgoing/retry-after.js';
import { textOfBytes } from '../outgoing/text-of-bytes.js';
import { TokenError, toStandardTokens, toTokenError } from './tokens.js';

/**
 * `timeoutMs` limits each request. `mostRequests` limits the requests of one `ProviderFetch`. The discovery of an MCP
 * server needs about ten.
 */
export const REQUEST_LIMITS = { timeoutMs: 15_000, mostRequests: 20 };

interface FetchOptions {
  method?: string | undefined;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

export interface ProviderFetch {
  fetch: (url: string | URL, options?: FetchOptions) => Promise<Response>;
  /** Returns the account name from the last answer that had one, or null. */
  account: () => string | null;
}

/** Aborting `stop` ends a request. Omit it for a request whose answer may hold the only copy of new tokens. */
export function createProviderFetch(
  client: OutgoingClient,
  stop?: AbortSignal,
  { timeoutMs, mostRequests } = REQUEST_LIMITS,
): ProviderFetch {
  let account: string | null = null;
  let requests = 0;
  return {
    account: () => account,
    async fetch(url, options = {}) {
      requests += 1;
      if (requests > mostRequests) throw new TokenError('refused', 'The provider leads to too many addresses.');
      const headers = Object.fromEntries(new Headers(options.headers));
      const signals = [options.signal, stop].filter((signal) => signal instanceof AbortSignal);
      const answer = await client
        .send({
          url: new URL(url),
          method: options.method ?? 'GET',
          headers: { 'user-agent': 'workflow-automation-service', ...headers, accept: 'application/json' },
          body: toText(options.body),
          timeoutMs,
          signal: AbortSignal.any(signals),
          followRedirects: false,
          reserve: refuseLarge,
        })
        .catch((error: unknown) => {
          stop?.throwIfAborted();
          if (error instanceof TokenError) throw error;
          throw new TokenError('unreachable', 'The provider could not be reached.', undefined);
        });
      const { status } = answer;
      if (status === 429 || status >= 500) {
        const later = retryAfterMs(answer.headers['retry-after'], Date.now());
        throw new TokenError('unreachable', `The provider answered with status ${status}.`, later);
      }
      const content = await bodyOf(answer);
      account = accountIn(content) ?? account;
      // Only requests for tokens are forms.
      if (/^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')) {
        return toResponse(200, tokensIn(status, content));
      }
      const isError = content['error'] !== undefined || content['ok'] === false;
      return toResponse(status < 400 && isError ? 400 : status, content, challengeHeader(answer));
    },
  };
}

/** The libraries pass a form or text. */
function toText(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  return body instanceof URLSearchParams ? body.toString() : (body as string);
}

/**
 * Returns the header in which an MCP server reports the address of its metadata. Characters that `Response` does not
 * accept in a header become `?`. They may occur in a realm or a description, and not in an address.
 */
function challengeHeader({ headers }: OutgoingResponse): Record<string, string> {
  const { 'www-authenticate': challenge } = headers;
  return challenge === undefined ? {} : { 'www-authenticate': challenge.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?') };
}

function refuseLarge(bytes: number): undefined {
  if (bytes > MOST_BYTES) throw new TokenError('unclear', 'The answer of the provider is too large.');
}

/** Reads an answer as JSON or as a form. Returns an empty object for anything else. */
async function bodyOf({ headers, body }: OutgoingResponse): Promise<Record<string, unknown>> {
  const { text } = await textOfBytes(body, headers['content-type']);
  if (/^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  const parsed = parseJsonOrUndefined(text);
  return isObject(parsed) ? parsed : {};
}

/**
 * Returns the tokens of an answer. Some providers report an error with the status 200, or use their own token type for
 * a bearer token. Drops the ID token, which only names the account and decides nothing. Throws `TokenError`.
 */
function tokensIn(status: number, content: Record<string, unknown>): Record<string, unknown> {
  const { id_token: _idToken, ...tokens } = toStandardTokens(content) ?? {};
  if ('access_token' in tokens && status < 400) return { ...tokens, token_type: 'bearer' };
  const { error } = content;
  if (isObject(error)) throw toTokenError(undefined);
  if (typeof error === 'string' && error !== '') throw toTokenError(error);
  throw new TokenError(
    'unclear',
    `The provider answered with status ${status}, and with neither a token nor an error.`,
  );
}

/** `Response` accepts no body with these statuses. */
const WITHOUT_BODY = new Set([204, 205, 304]);

function toResponse(status: number, content: Record<string, unknown>, headers: Record<string, string> = {}): Response {
  const body = WITHOUT_BODY.has(status) ? null : writeJson(content);
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}

const NAMES = ['email', 'preferred_username', 'username', 'login', 'account_name', 'workspace_name', 'name'];
const MOST_NAME_CHARACTERS = 200;

function accountIn(content: Record<string, unknown>): string | undefined {
  const claims = typeof content['id_token'] === 'string' ? claimsOf(content['id_token']) : {};
  const team = isObject(content['team']) ? content['team'] : {};
  const found = [claims, content, team].flatMap((of) => NAMES.map((name) => of[name]));
  const name = found.find((value): value is string => typeof value === 'string' && value.trim() !== '');
  return name === undefined ? undefined : cutText(name, MOST_NAME_CHARACTERS);
}

function claimsOf(token: string): Record<string, unknown> {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}
