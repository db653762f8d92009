import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { ServiceError } from './errors.js';
import type { paths } from './openapi.js';
import { createRetryingFetch, type RetryOptions } from './retrying-fetch.js';
import { createSessionFetch, type TokenSource } from './session-fetch.js';

export interface ClientOptions extends RetryOptions {
  /** Origin without a path: `https://workflows.example.com`. */
  baseUrl: string;
  /**
   * Either an API key or a session token. A page that refreshes its session passes a `TokenSource`. Public reads of the
   * marketplace need neither.
   */
  apiKey?: string;
  sessionToken?: string | TokenSource;
}

/** Typed calls by method and path: `client.GET('/api/v1/workflows/{id}/', { params: { path: { id: 1 } } })`. */
export type Client = FetchClient<paths> & {
  /** The input of a run is the plain body with a key, but the field `input_data` with a session token. */
  readonly usesSessionToken: boolean;
};

export function createClient({ baseUrl, apiKey, sessionToken, ...retries }: ClientOptions): Client {
  const client = createFetchClient<paths>({
    baseUrl: baseUrl.replace(/\/+$/, ''),
    fetch: createRetryingFetch(
      typeof sessionToken === 'object'
        ? { ...retries, fetch: createSessionFetch(sessionToken, retries.fetch) }
        : retries,
    ),
    // The service never redirects. Following a redirect would send the key header to another host.
    redirect: 'error',
    headers: {
      // The chat proxy expects the key as bearer token; all other endpoints expect this header.
      ...(apiKey === undefined ? {} : { 'X-Api-Key': apiKey }),
      ...(typeof sessionToken === 'string' ? { Authorization: `Bearer ${sessionToken}` } : {}),
    },
  });
  return Object.assign(client, { usesSessionToken: sessionToken !== undefined });
}

/** Returns the body of a successful response; throws a `ServiceError` otherwise. */
export async function unwrap<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Exclude<T, undefined>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ServiceError(response, error);
  return data as Exclude<T, undefined>;
}
