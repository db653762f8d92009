import { createHash, timingSafeEqual } from 'node:crypto';
import { findKeyHolder } from '../../db/keys-repository.js';
import type { AppContext, AppMiddleware } from '../app-state.js';
import type { AppDeps } from '../deps.js';
import { ApiError, permissionDenied } from '../errors.js';
import type { Auth, Caller } from '../route.js';

/** Finds out who speaks, by what the route asks for. Session tokens (JWT) have their place in `key` routes. */
export function authenticate(auth: Auth, deps: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    if (auth === 'key') ctx.state.caller = await keyCaller(ctx as AppContext, deps);
    if (auth === 'optional') {
      const caller = await keyCaller(ctx as AppContext, deps).catch(forgiveWrongCredentials);
      if (caller !== undefined) ctx.state.caller = caller;
    }
    if (auth === 'internal') checkInternalToken(ctx.get('authorization'), deps.config.internalTokens);
    await next();
  };
}

/** Not cached: a deleted key and a withdrawn permission count from the next request on. */
async function keyCaller(ctx: AppContext, deps: AppDeps): Promise<Caller> {
  const apiKey = ctx.get('x-api-key').trim();
  if (apiKey === '') throw notAuthenticated('X-Api-Key');
  const holder = await findKeyHolder(deps.db, apiKey);
  if (holder === undefined) {
    throw new ApiError(401, 'authentication_failed', 'Invalid API key.', challenge('X-Api-Key'));
  }
  if (!holder.apiAccess) throw permissionDenied('API access has not been granted to this user.');
  return { userId: holder.userId, keyId: holder.keyId, rateLimit: holder.rateLimit };
}

/** Where nobody needs credentials, wrong ones do not hurt. A spent rate limit and a database that is away still do. */
function forgiveWrongCredentials(error: unknown): undefined {
  if (!(error instanceof ApiError && (error.status === 401 || error.status === 403))) throw error;
}

function checkInternalToken(authorization: string, tokens: string[]): void {
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (given === undefined) throw notAuthenticated('Bearer');
  // Hashes have equal lengths, as the comparison in constant time needs; every token is compared, whichever matches.
  const matches = tokens.filter((token) => timingSafeEqual(sha256(token), sha256(given)));
  if (matches.length === 0) throw new ApiError(401, 'authentication_failed', 'Invalid token.', challenge('Bearer'));
}

function notAuthenticated(scheme: string): ApiError {
  return new ApiError(401, 'not_authenticated', 'Authentication credentials were not provided.', challenge(scheme));
}

function challenge(scheme: string): { headers: Record<string, string> } {
  return { headers: { 'WWW-Authenticate': `${scheme} realm="api"` } };
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
