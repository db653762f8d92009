import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../config/logger.js';
import { annotateActiveSpan } from '../../../config/spans.js';
import type { AppMiddleware } from '../app-state.js';

/** Long enough for the ids of every tracing system, and short and plain enough for a log line. */
const SANE = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** Every answer carries `X-Request-Id`: the caller's, or a new one if the caller's is missing or not fit for a log. */
export function requestId(logger: Logger): AppMiddleware {
  return async (ctx, next) => {
    const given = ctx.get('x-request-id');
    const id = SANE.test(given) ? given : randomUUID();
    ctx.state.log = logger.child({ request_id: id });
    ctx.set('X-Request-Id', id);
    annotateActiveSpan({ 'request.id': id });
    await next();
  };
}
