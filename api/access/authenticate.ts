import { createHash, timingSafeEqual } from 'node:crypto';
import { isAssistantToken } from '../../db/agents/assistant-token.js';
import { admitAssistant } from './admit-assistant.js';
import { admitKey } from './admit-key.js';
import { admitSession } from './admit-session.js';
import { countingOf, type Admission, type Counting } from './admission.js';
import type { KeyScope } from '../../db/core/tables.js';
import type { AppContext, AppMiddleware } from '../http/app-state.js';
import type { AccessDeps } from './deps.js';
import { ApiError, permissionDenied } from '../http/errors.js';
import type { Caller, RouteDeclaration } from '../http/route.js';

type Authenticated = Pick<RouteDeclaration, 'auth' | 'method' | 'keyScope' | 'countsNo304' | 'admitsAssistants'>;

/** Identifies the caller by the method that the route requires (docs/use/interface-notes/access.md). */
export function authenticate(route: Authenticated, deps: AccessDeps): AppMiddleware {
  const { auth } = route;
  return async (ctx, next) => {
    if (auth === 'key') ctx.state.caller = await findCaller(ctx as AppContext, deps, route);
    if (auth === 'session') ctx.state.caller = await findSession(ctx as AppContext, deps);
    if (auth === 'bearer-key') ctx.state.caller = await findBearerKeyCaller(ctx as AppContext, deps, route);
    if (auth === 'optional') {
      const caller = await findCaller(ctx as AppContext, deps, route).catch(forgiveWrongCredentials);
      if (caller !== undefined) ctx.state.caller = caller;
    }
    if (auth === 'internal') checkInternalToken(bearerToken(ctx as AppContext), deps.config.internalTokens);
    await next();
  };
}

/** A session token takes precedence: it must be valid, and an API key in the same request is ignored. */
async function findCaller(ctx: AppContext, deps: AccessDeps, route: Authenticated): Promise<Caller> {
  const token = bearerToken(ctx);
  const counting = route.countsNo304 === true ? countingOf(ctx.headers) : 'now';
  if (token !== undefined) return findSessionCaller(ctx, deps, token, counting);
  const apiKey = ctx.get('x-api-key').trim();
  if (apiKey === '') throw notAuthenticated('X-Api-Key realm="api", Bearer realm="api"');
  const admission = await admitKey(deps, apiKey, 'X-Api-Key', counting);
  const caller = admit(ctx, admission);
  requireScope(admission.scope, route);
  return { ...caller, scope: admission.scope };
}

/** A request with only an API key is refused. The answer does not reveal if the key is valid. */
async function findSession(ctx: AppContext, deps: AccessDeps): Promise<Caller> {
  const token = bearerToken(ctx);
  if (token !== undefined) return findSessionCaller(ctx, deps, token, 'now');
  if (ctx.get('x-api-key').trim() === '') throw notAuthenticated('Bearer realm="api"');
  throw permissionDenied('This needs a session; an API key is not enough.');
}

/**
 * Clients of the chat proxy and of MCP send the API key as a bearer token. The assistant in the editor sends the token
 * of its run.
 */
async function findBearerKeyCaller(ctx: AppContext, deps: AccessDeps, route: Authenticated): Promise<Caller> {
  const apiKey = bearerToken(ctx);
  if (apiKey === undefined || apiKey === '') throw notAuthenticated('Bearer realm="api"');
  if (route.admitsAssistants === true && isAssistantToken(apiKey))
    return admit(ctx, await admitAssistant(deps, apiKey));
  const admission = await admitKey(deps, apiKey, 'Bearer');
  const caller = admit(ctx, admission);
  requireScope(admission.scope, route);
  return { ...caller, scope: admission.scope };
}

/**
 * A token becomes invalid when its user is deleted or deactivated. A token of our own becomes invalid with its session,
 * too.
 */
async function findSessionCaller(
  ctx: AppContext,
  deps: AccessDeps,
  token: string,
  counting: Counting,
): Promise<Caller> {
  return admit(ctx, await admitSession(deps, await deps.verifySession(token), counting));
}

function admit(ctx: AppContext, { caller, headers, settle }: Admission): Caller {
  ctx.set(headers);
  if (settle !== undefined) ctx.state.settle = settle;
  return caller;
}

/**
 * Returns undefined without the header, and for another scheme, such as a proxy's own `Basic`. `Bearer` without a token
 * gives an empty text, which is never a valid token.
 */
function bearerToken(ctx: AppContext): string | undefined {
  const [scheme = '', ...rest] = ctx.get('authorization').trim().split(/ +/);
  return scheme.toLowerCase() === 'bearer' ? rest.join(' ') : undefined;
}

/**
 * Ignores wrong credentials, and those without access, on a route that requires none. All other errors, such as an
 * exceeded rate limit, remain errors.
 */
function forgiveWrongCredentials(error: unknown): undefined {
  if (!(error instanceof ApiError && (error.status === 401 || error.status === 403))) throw error;
}

function checkInternalToken(sent: string | undefined, tokens: string[]): void {
  if (sent === undefined) throw notAuthenticated('Bearer realm="api"');
  // Hashes have equal lengths, which the constant-time comparison requires. Every token is compared, whichever matches.
  const matches = tokens.filter((token) => timingSafeEqual(sha256(token), sha256(sent)));
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

/**
 * Throws 403 if the key's scope does not permit the route. `read` permits every GET, and routes with
 * `keyScope: 'read'`. `run` permits routes with `keyScope: 'run'`, and routes with a bearer key unless they have
 * `keyScope: 'read'`: the chat proxy and `/mcp`.
 */
function requireScope(scope: KeyScope, { auth, method, keyScope }: Authenticated): void {
  if (scope === 'full') return;
  const takesRead = keyScope === 'read';
  const takesRun = (auth === 'bearer-key' && !takesRead) || keyScope === 'run';
  const isReached = scope === 'read' ? method === 'GET' || takesRead : takesRun;
  if (!isReached) throw new ApiError(403, 'key_scope', `An API key of the scope "${scope}" may not do this.`);
}
