import type { AppMiddleware } from '../app-state.js';

/**
 * The headers of every answer unless its route overrides them: no cache stores it, and a browser that opens it does not
 * guess another media type, above all not a page.
 */
export const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

export function answerHeaders(): AppMiddleware {
  return async (ctx, next) => {
    ctx.set(ANSWER_HEADERS);
    await next();
  };
}
