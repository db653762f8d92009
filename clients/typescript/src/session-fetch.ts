// The token of a frontend session on each request, and one more try with a new token where the service refuses it.

/** Where a page gets the token of its session from. Undefined: there is no session, and the request goes without. */
export interface TokenSource {
  /** The token for the next request; renewed first where it is about to end. */
  current(): Promise<string | undefined>;
  /** A token in place of the one that was refused, or undefined where the session has ended. */
  renew(refused: string | undefined): Promise<string | undefined>;
}

type Send = (request: Request) => Promise<Response>;

/** A request that was answered 401 has done nothing, so it may be sent again, whatever its method. */
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
