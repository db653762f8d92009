import { createHash, timingSafeEqual } from 'node:crypto';
import { findUser } from '../../../db/projects/users-repository.js';
import { admitKey } from '../../access/admit-key.js';
import type { AppContext, AppMiddleware } from '../app-state.js';
import type { AppDeps } from '../../deps.js';
import { ApiError, permissionDenied } from '../errors.js';
import { uuid } from '../path-ids.js';
import type { Caller, Route } from '../route.js';
import { invalidToken } from '../../access/session-tokens.js';

/** Finds out who speaks, by what the route asks for. Specification, "Authentication". */
export function authenticate({ auth, pollsRun }: Pick<Route, 'auth' | 'pollsRun'>, deps: AppDeps): AppMiddleware {
  return async (ctx, next) => {
    if (auth === 'key') ctx.state.caller = await findCaller(ctx as AppContext, deps, pollsRun);
    if (auth === 'bearer-key') ctx.state.caller = await findBearerKeyCaller(ctx as AppContext, deps);
    if (auth === 'optional') {
      const caller = await findCaller(ctx as AppContext, deps).catch(forgiveWrongCredentials);
      if (caller !== undefined) ctx.state.caller = caller;
    }
    if (auth === 'internal') checkInternalToken(bearerToken(ctx as AppContext), deps.config.internalTokens);
    await next();
  };
}

/** Whoever sends a session token speaks by it and by it alone: it must be valid, and a key beside it is not looked at. */
async function findCaller(ctx: AppContext, deps: AppDeps, pollsRun?: string): Promise<Caller> {
  const token = bearerToken(ctx);
  if (token !== undefined) return findSessionCaller(deps, token);
  const apiKey = ctx.get('x-api-key').trim();
  if (apiKey === '') throw notAuthenticated('X-Api-Key realm="api", Bearer realm="api"');
  const runId = pollsRun === undefined ? undefined : uuid.safeParse(ctx.query[pollsRun]).data;
  const { caller, headers, run } = await admitKey(deps, apiKey, 'X-Api-Key', runId === undefined ? {} : { runId });
  ctx.set(headers);
  if (runId !== undefined) ctx.state.polled = { runId, run };
  return caller;
}

/** The chat proxy's clients send the same key as a bearer token. */
async function findBearerKeyCaller(ctx: AppContext, deps: AppDeps): Promise<Caller> {
  const apiKey = bearerToken(ctx);
  if (apiKey === undefined || apiKey === '') throw notAuthenticated('Bearer realm="api"');
  const { caller, headers } = await admitKey(deps, apiKey, 'Bearer');
  ctx.set(headers);
  return caller;
}

/** A token outlives neither its user nor the user's access to the API. */
async function findSessionCaller({ db, verifySession }: AppDeps, token: string): Promise<Caller> {
  const user = await findUser(db, await verifySession(token));
  if (user === undefined) throw invalidToken();
  if (!user.api_access) throw permissionDenied('API access has not been granted to this user.');
  return { userId: user.id, credential: 'session' };
}

/** Undefined for another scheme, such as a proxy's own `Basic`. Nothing after the word is a token too, a wrong one. */
function bearerToken(ctx: AppContext): string | undefined {
  const [scheme = '', ...rest] = ctx.get('authorization').trim().split(/ +/);
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ') : undefined;
}

/** Where nobody needs credentials, wrong ones do not hurt. A spent rate limit and a database that is away still do. */
function forgiveWrongCredentials(error: unknown): undefined {
  if (!(error instanceof ApiError && (error.status === 401 || error.status === 403))) throw error;
}

function checkInternalToken(given: string | undefined, tokens: string[]): void {
  if (given === undefined) throw notAuthenticated('Bearer realm="api"');
  // Hashes have equal lengths, as the comparison in constant time needs; every token is compared, whichever matches.
  const matches = tokens.filter((token) => timingSafeEqual(sha256(token), sha256(given)));
  if (matches.length === 0) {
    const headers = { 'WWW-Authenticate': 'Bearer realm="api"' };
    throw new ApiError(401, 'authentication_failed', 'Invalid token.', { headers });
  }
}

function notAuthenticated(challenge: string): ApiError {
  const headers = { 'WWW-Authenticate': challenge };
  return new ApiError(401, 'not_authenticated', 'Authentication credentials were not provided.', { headers });
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
