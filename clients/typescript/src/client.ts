import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { ServiceError } from './errors.js';
import type { paths } from './openapi.js';
import { createRetryingFetch, type RetryOptions } from './retrying-fetch.js';
import { createSessionFetch, type TokenSource } from './session-fetch.js';

export interface ClientOptions extends RetryOptions {
  /** Without a path: `https://workflows.example.com`. */
  baseUrl: string;
  /**
   * One of the two: a key, or the token of a frontend session (of a page that refreshes its session: a source of tokens).
   * Neither for the open marketplace reads.
   */
  apiKey?: string;
  sessionToken?: string | TokenSource;
}

/** Every endpoint by method and path: `client.GET('/api/v1/workflows/{id}/', { params: { path: { id: 1 } } })`. */
export type Client = FetchClient<paths> & {
  /** The input of a run goes as it is with a key, and in `input_data` with a session token. */
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
    // The service redirects nowhere, and a key in a header of its own would go along to any other host.
    redirect: 'error',
    headers: {
      // The chat proxy takes the key as bearer, everything else in its own header.
      ...(apiKey === undefined ? {} : { 'X-Api-Key': apiKey }),
      ...(typeof sessionToken === 'string' ? { Authorization: `Bearer ${sessionToken}` } : {}),
    },
  });
  return Object.assign(client, { usesSessionToken: sessionToken !== undefined });
}

/** The body of a good answer; of any other one a `ServiceError` is thrown. */
export async function unwrap<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Exclude<T, undefined>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw new ServiceError(response, error);
  return data as Exclude<T, undefined>;
}
