import type { ApiConfig } from '../api-config.js';
import type { AppMiddleware } from '../app-state.js';
import { foreignOrigin } from '../errors.js';

/**
 * Refuses what a browser sends for a page of another origin, those of CORS_ORIGINS excepted. Its own origin is that of
 * PUBLIC_URL alone: the Host header is what a page names whose name was made to lead here (DNS rebinding). A program that
 * is no browser says nothing of an origin.
 */
export function refuseOtherOrigins({
  publicUrl,
  corsOrigins,
}: Pick<ApiConfig, 'publicUrl' | 'corsOrigins'>): AppMiddleware {
  const allowed = new Set([new URL(publicUrl).origin, ...corsOrigins]);
  return async (ctx, next) => {
    const { origin } = ctx.headers;
    if (origin !== undefined && !allowed.has(origin)) throw foreignOrigin();
    await next();
  };
}
