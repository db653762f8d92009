import type { Environment } from '../../../config/environment.js';
import type { AppMiddleware } from '../app-state.js';
import { foreignOrigin } from '../errors.js';

/**
 * The usual headers of the interface, such as `Authorization`, which `*` never permits. `*` permits all others, such as
 * `X-File-Name` and those that client libraries add.
 */
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Mcp-Protocol-Version',
  'Mcp-Session-Id',
  'Prefer',
  'X-Api-Key',
  'X-Project-Id',
  'X-Request-Id',
  '*',
];

const ANSWER_HEADERS = [
  'ETag',
  'Idempotent-Replayed',
  'Mcp-Session-Id',
  'Preference-Applied',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
];

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': REQUEST_HEADERS.join(', '),
  'Access-Control-Max-Age': '600',
};

/**
 * Lets pages of these origins call from a browser with a bearer token or key (CORS, Fetch standard). Cookies are never
 * allowed. Another origin gets no CORS header, so its browser hides the answer from the page.
 */
export function cors(origins: readonly string[]): AppMiddleware {
  const allowed = new Set(origins);
  return async (ctx, next) => {
    if (allowed.size > 0) ctx.vary('Origin');
    const origin = ctx.get('origin');
    if (!allowed.has(origin)) return next();
    ctx.set('Access-Control-Allow-Origin', origin);
    if (ctx.method === 'OPTIONS' && ctx.get('access-control-request-method') !== '') {
      ctx.set(PREFLIGHT);
      ctx.status = 204;
      return undefined;
    }
    ctx.set('Access-Control-Expose-Headers', ANSWER_HEADERS.join(', '));
    return next();
  };
}

/**
 * Refuses browser requests from pages of other origins, except CORS_ORIGINS. The own origin is defined by PUBLIC_URL
 * alone, because DNS rebinding lets a page of another origin choose the Host header. Programs other than browsers send
 * no `Origin` and pass.
 */
export function refuseOtherOrigins({
  publicUrl,
  corsOrigins,
}: Pick<Environment, 'publicUrl' | 'corsOrigins'>): AppMiddleware {
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return async (ctx, next) => {
    const { origin } = ctx.headers;
    if (origin !== undefined && !allowed.has(origin)) throw foreignOrigin();
    await next();
  };
}
