// Adds the session's token to each request, and retries once with a new token if the service refuses it.

/** Provides the page's session token. Undefined: no session; the request is sent without a token. */
export interface TokenSource {
  /** Returns the token for the next request, renewed if it is about to expire. */
  current(): Promise<string | undefined>;
  /** Returns a replacement for a refused token, or undefined if the session has ended. */
  renew(refused: string | undefined): Promise<string | undefined>;
}

type Send = (request: Request) => Promise<Response>;

/** A request answered by 401 was not processed, so any method may be retried. */
export function createSessionFetch(tokens: TokenSource, send: Send = (request) => globalThis.fetch(request)): Send {
  return async (request) => {
    const token = await tokens.current();
    const first = await send(withToken(request.clone(), token));
    if (first.status !== 401) return first;
    const renewed = await tokens.renew(token);
    if (renewed === undefined) return first;
    await first.body?.cancel();
    return send(withToken(request, renewed));
  };
}

function withToken(request: Request, token: string | undefined): Request {
  if (token !== undefined) request.headers.set('Authorization', `Bearer ${token}`);
  return request;
}
