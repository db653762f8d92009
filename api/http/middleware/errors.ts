import type { AppMiddleware } from '../app-state.js';
import { isChatPath, toChatError } from '../chat-errors.js';
import { isDatabaseTimeout } from '../../../db/core/client.js';
import { isQuotaExceeded } from '../../../db/projects/stored-bytes-repository.js';
import { MemoryBusyError } from '../../../outgoing/byte-budget.js';
import { ApiError, overloaded, parseError, quotaExceeded } from '../errors.js';

/** The only place that turns errors into answers. An unexpected error reveals nothing to the caller. */
export function errors(): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const answer = toAnswer(error, ctx.req.socket.destroyed);
      if (answer.status >= 500) ctx.state.log.error({ err: error }, 'request failed');
      ctx.set(answer.headers);
      ctx.status = answer.status;
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(isChatPath(ctx.path) ? toChatError(answer) : answer.toBody());
    }
  };
}

function toAnswer(error: unknown, isCallerGone: boolean): ApiError {
  if (error instanceof ApiError) return error;
  // The caller hung up, so the abort is not a failure and nobody reads this answer.
  if (isCallerGone && error instanceof DOMException) return parseError('the caller hung up.');
  if (isQuotaExceeded(error)) return quotaExceeded();
  const isBusy = isDatabaseTimeout(error) || error instanceof MemoryBusyError;
  return isBusy ? overloaded() : new ApiError(500, 'error', 'A server error occurred.');
}
