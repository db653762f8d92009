// Requests to providers of tokens, for the libraries that speak OAuth: through the address guard, without redirects, and with
// small answers. What providers do beside the standard is translated here.
import { decodeJwt } from 'jose';
import { isObject } from '../graph/json.js';
import { cutText } from '../graph/cut-text.js';
import type { OutgoingClient, OutgoingResponse } from '../outgoing/outgoing-client.js';
import { retryAfterMs } from '../outgoing/retry-after.js';
import { textOfBytes } from '../outgoing/text-of-bytes.js';
import { TokenError } from './tokens.js';

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 256 * 1024;

/** A request as the libraries make it. */
interface FetchOptions {
  method?: string | undefined;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: unknown;
  signal?: AbortSignal | null | undefined;
}

export interface ProviderFetch {
  fetch: (url: string | URL, options?: FetchOptions) => Promise<Response>;
  /** The name that the last answer with tokens has told of who has signed in. */
  account: () => string | null;
}

export function createProviderFetch(client: OutgoingClient): ProviderFetch {
  let account: string | null = null;
  return {
    account: () => account,
    async fetch(url, options = {}) {
      const headers = Object.fromEntries(new Headers(options.headers));
      const answer = await client
        .send({
          url: new URL(url),
          method: options.method ?? 'GET',
          headers: { 'user-agent': 'workflow-automation-service', ...headers, accept: 'application/json' },
          body: toText(options.body),
          timeoutMs: TIMEOUT_MS,
          signal: options.signal ?? new AbortController().signal,
          followRedirects: false,
          reserve: refuseLarge,
        })
        .catch((error: unknown) => {
          if (error instanceof TokenError) throw error;
          throw new TokenError('unreachable', 'The provider could not be reached.', undefined);
        });
      const { status } = answer;
      if (status === 429 || status >= 500) {
        const later = retryAfterMs(answer.headers['retry-after'], Date.now());
        throw new TokenError('unreachable', `The provider answered with status ${status}.`, later);
      }
      const said = await bodyOf(answer);
      account = accountIn(said) ?? account;
      const standard = toStandard(status, said);
      return new Response(JSON.stringify(standard.body), {
        status: standard.status,
        headers: { 'content-type': 'application/json', ...challengeHeader(answer) },
      });
    },
  };
}

/** Libraries give a form or a text. */
function toText(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  return body instanceof URLSearchParams ? body.toString() : (body as string);
}

/** The header of an MCP server's answer that says where its metadata are. */
function challengeHeader({ headers }: OutgoingResponse): Record<string, string> {
  const { 'www-authenticate': challenge } = headers;
  return challenge === undefined ? {} : { 'www-authenticate': challenge };
}

function refuseLarge(bytes: number): undefined {
  if (bytes > MOST_BYTES) throw new TokenError('refused', 'The answer of the provider is too large.');
}

/** An answer as JSON, or as a form; anything else says nothing. */
async function bodyOf({ headers, body }: OutgoingResponse): Promise<Record<string, unknown>> {
  const { text } = await textOfBytes(body, headers['content-type']);
  if (/^application\/x-www-form-urlencoded/i.test(headers['content-type'] ?? '')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/**
 * Some providers answer an error with the status 200, or name their own kind of token although it is sent like any other. The
 * ID token is left out: it says who has signed in, and nothing is decided by it.
 */
function toStandard(status: number, said: Record<string, unknown>): { status: number; body: Record<string, unknown> } {
  const { id_token: _idToken, ...body } = said;
  if (typeof body['access_token'] === 'string' && status < 400) {
    return { status: 200, body: { ...body, token_type: 'bearer' } };
  }
  const isError = body['error'] !== undefined || body['ok'] === false;
  return { status: status < 400 && isError ? 400 : status, body };
}

const NAMES = ['email', 'preferred_username', 'username', 'login', 'account_name', 'workspace_name', 'name'];
const MOST_NAME_CHARACTERS = 200;

function accountIn(said: Record<string, unknown>): string | undefined {
  const claims = typeof said['id_token'] === 'string' ? claimsOf(said['id_token']) : {};
  const team = isObject(said['team']) ? said['team'] : {};
  const found = [claims, said, team].flatMap((of) => NAMES.map((name) => of[name]));
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
