import { contextOf, isTracing, markFailed, SpanKind, startSpan } from '../../../config/spans.js';
import { context, trace } from '@opentelemetry/api';
import type { AppMiddleware } from '../app-state.js';

/** Monitoring requests these paths every few seconds. */
const UNTRACED = /^\/(?:healthz|readyz|metrics)\/?$/;

/**
 * Creates a span per request, named by the route's pattern. It is a child of the caller's span if there is a
 * `traceparent`.
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
      const status = ctx.res.statusCode;
      span.setAttribute('http.response.status_code', status);
      if (route !== undefined) span.updateName(`${ctx.method} ${route.path}`).setAttribute('http.route', route.path);
      if (status >= 500) markFailed(span, String(status));
      else if (!ctx.res.writableFinished) markFailed(span, 'aborted');
      span.end();
    });
    return context.with(trace.setSpan(context.active(), span), next);
  };
}
