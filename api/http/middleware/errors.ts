import { isDatabaseTimeout } from '../../../db/core/client.js';
import { isShortOfResources, outageOf } from '../../../db/core/outage.js';
import type { DatabaseHealth } from '../../../db/core/pulse.js';
import { isQuotaExceeded } from '../../../db/projects/stored-bytes-repository.js';
import { StoreAwayError } from '../../../files/store-failures.js';
import { MemoryBusyError } from '../../../memory/byte-budget.js';
import type { AppMiddleware, AppContext } from '../app-state.js';
import { isChatPath, toChatError } from '../chat-errors.js';
import { ApiError, overloaded, parseError, quotaExceeded, notFound, unavailable } from '../errors.js';

/** Converts errors that reach this middleware to answers. An unexpected error reveals nothing to the caller. */
export function errors(health: DatabaseHealth): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const answer = toAnswer(error, health, ctx.req.socket.destroyed);
      // The outage itself is logged once, at the change of the database's state (telemetry/tell-state.ts), so the
      // requests that fail during the outage are logged at debug level only.
      const level = answer.code === 'unavailable' && health.state !== 'well' ? 'debug' : 'error';
      if (answer.status >= 500) ctx.state.log[level]({ err: error }, 'request failed');
      ctx.set(answer.headers);
      ctx.status = answer.status;
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(isChatPath(ctx.path) ? toChatError(answer) : answer.toBody());
    }
  };
}

/** Returns the answer to a request that failed with the error, and reveals nothing of an unexpected one. */
export function toAnswer(error: unknown, health: DatabaseHealth, isCallerGone: boolean): ApiError {
  if (error instanceof ApiError) return error;
  // The caller hung up, so the abort is not a failure and nobody reads this answer.
  if (isCallerGone && error instanceof DOMException) return parseError('The caller hung up.');
  if (isQuotaExceeded(error)) return quotaExceeded();
  const isAway = outageOf(error) !== undefined || isShortOfResources(error) || error instanceof StoreAwayError;
  if (isAway) return unavailable(error);
  const isBusy = isDatabaseTimeout(error) || error instanceof MemoryBusyError;
  // While PostgreSQL does not answer, neither a timeout nor full memory is a sign of load, so the answer is not
  // `overloaded`.
  if (isBusy && health.state === 'no answer') return unavailable(error);
  return isBusy ? overloaded() : new ApiError(500, 'error', 'A server error occurred.');
}

/**
 * Answers requests that no route matched: 404 for an unknown path, and for a known one 405 with `Allow`, or 204 for
 * OPTIONS.
 */
export function unmatched(): AppMiddleware {
  return async (ctx, next) => {
    await next();
    if (ctx.state.route !== undefined) return;
    const matched = (ctx as AppContext).matched ?? [];
    const literal = matched.filter(({ path }) => !String(path).includes(':'));
    const layers = literal.length > 0 ? literal : matched;
    const methods = new Set(layers.flatMap((layer) => layer.methods));
    if (methods.size === 0) throw notFound();
    const allow = [...methods, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const message = `Method "${ctx.method}" not allowed.`;
      throw new ApiError(405, 'method_not_allowed', message, { headers: { Allow: allow } });
    }
    ctx.status = 204;
    ctx.set('Allow', allow);
  };
}
