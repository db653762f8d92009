import type { Histogram } from 'prom-client';
import type { AppMiddleware } from '../app-state.js';

type Requests = Histogram<'method' | 'route' | 'status'>;

/** Logs one line per request with the route's pattern; never the query, headers or body. */
export function accessLog(requestSeconds: Requests): AppMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once('close', () => {
      const endedAt = performance.now();
      const { log, heldSinceMs = endedAt } = ctx.state;
      const taken = ctx.state.route ?? ctx.state.console;
      const durationMs = heldSinceMs - startedAt;
      const held = heldSinceMs < endedAt ? { held_ms: Math.round(endedAt - heldSinceMs) } : {};
      const route = taken?.path ?? 'unmatched';
      const status = ctx.res.statusCode;
      const facts = { method: ctx.method, route, status, duration_ms: Math.round(durationMs), ...held };
      requestSeconds.observe({ method: ctx.method, route, status }, durationMs / 1000);
      if (!ctx.res.writableFinished) log.info(facts, 'request aborted');
      else if (taken?.quiet === true) log.debug(facts, 'request');
      else log.info(facts, 'request');
    });
    await next();
  };
}
