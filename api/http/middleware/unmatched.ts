import type { AppMiddleware, AppContext } from '../app-state.js';
import { ApiError, notFound } from '../errors.js';

/** Answers requests that no route matched: 404 for an unknown path, 405 with `Allow` for a known one, and OPTIONS. */
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
