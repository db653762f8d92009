import { MissingKeyError } from '../../db/secret-box.js';
import type { AppMiddleware } from '../app-state.js';
import { isChatPath, toChatError } from '../chat-errors.js';
import { ApiError } from '../errors.js';

/** The one place where an error becomes an answer. Of what we did not foresee, the caller learns nothing. */
export function errors(): AppMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error);
      if (answer.status >= 500) ctx.state.log.error({ err: error }, 'request failed');
      ctx.set(answer.headers);
      ctx.status = answer.status;
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(isChatPath(ctx.path) ? toChatError(answer) : answer.toBody());
    }
  };
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof MissingKeyError) {
    return new ApiError(500, 'secret_unreadable', 'A stored secret cannot be read: SECRETS_KEY lacks its key.');
  }
  return new ApiError(500, 'error', 'A server error occurred.');
}
