import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { context, trace } from '@opentelemetry/api';
import type { Histogram } from 'prom-client';
import type { Logger } from '../../../telemetry/logger.js';
import { annotateActiveSpan, contextOf, isTracing, markFailed, SpanKind, startSpan } from '../../../telemetry/spans.js';
import type { AppMiddleware } from '../app-state.js';

/**
 * The status, as that of nginx, of a request whose connection ended before the head of its answer was sent. Koa sets 404
 * on each response until the handler sets another status.
 */
const HUNG_UP = 499;

function statusOf(response: ServerResponse): number {
  return response.headersSent ? response.statusCode : HUNG_UP;
}

export type RequestDurations = Histogram<'method' | 'route' | 'status'>;

/**
 * Logs one line per request with the route's pattern; never the query, the body or a header other than `X-Request-Id`.
 */
export function accessLog(requestSeconds: RequestDurations): AppMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    ctx.res.once('close', () => {
      const endedAt = performance.now();
      const { log, heldSinceMs = endedAt } = ctx.state;
      const matched = ctx.state.route ?? ctx.state.console;
      const durationMs = heldSinceMs - startedAt;
      const held = heldSinceMs < endedAt ? { held_ms: Math.round(endedAt - heldSinceMs) } : {};
      const route = matched?.path ?? 'unmatched';
      const status = statusOf(ctx.res);
      const facts = { method: ctx.method, route, status, duration_ms: Math.round(durationMs), ...held };
      requestSeconds.observe({ method: ctx.method, route, status }, durationMs / 1000);
      if (!ctx.res.writableFinished) log.info(facts, 'request aborted');
      else if (matched?.quiet === true) log.debug(facts, 'request');
      else log.info(facts, 'request');
    });
    await next();
  };
}

/** Long enough for the ids of every tracing system, and short and plain enough for a log line. */
const SANE = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** Gives the answer an `X-Request-Id`: the caller's, or a new one if the caller's is missing or not fit for a log. */
export function requestId(logger: Logger): AppMiddleware {
  return async (ctx, next) => {
    const sent = ctx.get('x-request-id');
    const id = SANE.test(sent) ? sent : randomUUID();
    ctx.state.log = logger.child({ request_id: id });
    ctx.set('X-Request-Id', id);
    annotateActiveSpan({ 'request.id': id });
    await next();
  };
}

/** Monitoring requests these paths every few seconds. */
const UNTRACED = /^\/(?:healthz|readyz|metrics)\/?$/;

/**
 * Creates a span per request, except for those of monitoring, named by the method and, if a route matches, the route's
 * pattern. The caller's `traceparent`, if there is one, becomes the parent of the span.
 */
export function traceRequest(): AppMiddleware {
  return async (ctx, next) => {
    if (!isTracing() || UNTRACED.test(ctx.path)) return next();
    const span = startSpan(ctx.method, {
      kind: SpanKind.SERVER,
      parent: contextOf(ctx.get('traceparent')),
      attributes: { 'http.request.method': ctx.method },
    });
    ctx.res.once('close', () => {
      const { route } = ctx.state;
      const status = statusOf(ctx.res);
      span.setAttribute('http.response.status_code', status);
      if (route !== undefined) span.updateName(`${ctx.method} ${route.path}`).setAttribute('http.route', route.path);
      if (status >= 500) markFailed(span, String(status));
      else if (!ctx.res.writableFinished) markFailed(span, 'aborted');
      span.end();
    });
    return context.with(trace.setSpan(context.active(), span), next);
  };
}
