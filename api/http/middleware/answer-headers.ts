import type { AppMiddleware } from '../app-state.js';

/**
 * The headers of every answer unless its route overrides them. No cache stores the answer, and a browser does not guess
 * another media type, such as a page.
 */
export const ANSWER_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/** After one TLS visit, a browser uses only TLS for the host and its subdomains, for a year. */
const STRICT_TRANSPORT_SECURITY = 'max-age=31536000; includeSubDomains';

/** `publicUrl`: the address that people use; `https:` if the service is behind TLS. */
export function answerHeaders(publicUrl: string): AppMiddleware {
  const isBehindTls = publicUrl.startsWith('https:');
  return async (ctx, next) => {
    ctx.set(ANSWER_HEADERS);
    if (isBehindTls) ctx.set('Strict-Transport-Security', STRICT_TRANSPORT_SECURITY);
    await next();
  };
}
