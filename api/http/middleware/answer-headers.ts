import type { AppMiddleware } from '../app-state.js';

/**
 * On every answer, unless its route says otherwise: what is said to one caller stays in no cache on the way, and a browser
 * that is led here directly takes it for nothing but what it is, least of all for a page.
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
