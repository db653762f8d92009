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

/** A browser that has come by TLS once asks for the host, and for those below it, by TLS alone for a year. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000; includeSubDomains';

/** `publicUrl`: where people reach the service; https where it is behind TLS. */
export function answerHeaders(publicUrl: string): AppMiddleware {
  const isBehindTls = publicUrl.startsWith('https:');
  return async (ctx, next) => {
    ctx.set(ANSWER_HEADERS);
    if (isBehindTls) ctx.set('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    await next();
  };
}
