import { createHash, timingSafeEqual } from 'node:crypto';
import { findKeyHolder } from '../../db/keys-repository.js';
import type { AppMiddleware } from '../app-state.js';
import type { AppDeps } from '../deps.js';
import { ApiError, permissionDenied } from '../errors.js';
import type { Auth, Caller } from '../route.js';

/** Finds out who speaks, by what the route asks for. Session tokens (JWT) have their place in `key` routes. */
export function authenticate(auth: Auth, deps: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    if (auth === 'key') ctx.state.caller = await keyCaller(ctx.get('x-api-key').trim(), 'X-Api-Key', deps);
    if (auth === 'bearer-key') {
      ctx.state.caller = await keyCaller(bearerToken(ctx.get('authorization')), 'Bearer', deps);
    }
    if (auth === 'internal') checkInternalToken(ctx.get('authorization'), deps.config.internalTokens);
    await next();
  };
}

/**
 * Every request by API key passes here, the chat proxy's too. Not cached: a deleted key and a withdrawn permission count
 * from the next request on.
 */
async function keyCaller(apiKey: string, scheme: 'X-Api-Key' | 'Bearer', deps: AppDeps): Promise<Caller> {
  if (apiKey === '') throw notAuthenticated(scheme);
  const holder = await findKeyHolder(deps.db, apiKey);
  if (holder === undefined) {
    throw new ApiError(401, 'authentication_failed', 'Invalid API key.', challenge(scheme));
  }
  if (!holder.apiAccess) throw permissionDenied('API access has not been granted to this user.');
  return { userId: holder.userId, keyId: holder.keyId, rateLimit: holder.rateLimit };
}

function checkInternalToken(authorization: string, tokens: string[]): void {
  const given = bearerToken(authorization);
  if (given === '') throw notAuthenticated('Bearer');
  // Hashes have equal lengths, as the comparison in constant time needs; every token is compared, whichever matches.
  const matches = tokens.filter((token) => timingSafeEqual(sha256(token), sha256(given)));
  if (matches.length === 0) throw new ApiError(401, 'authentication_failed', 'Invalid token.', challenge('Bearer'));
}

/** Empty when the header carries none. */
function bearerToken(authorization: string): string {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
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
