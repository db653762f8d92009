import { Readable } from 'node:stream';
import { onBehalfOf } from '../../db/core/tenants.js';
import { isEventStream } from '../../outgoing/event-stream-type.js';
import type { AppState } from '../http/app-state.js';
import { holdsLazyJson, toJsonText } from '../http/json-text.js';
import { sendBytes, sendJson, sendStream, SMALL_ANSWER_BYTES } from '../http/send-answer.js';
import type { DispatchDeps } from './deps.js';
import type { RequestContext, Step } from './step.js';

type SendingDeps = Pick<DispatchDeps, 'openStreams'>;

/** Sends the result of the steps that follow. Ends the memory lease in any case. */
export function sendResult(deps: SendingDeps): Step {
  return async (ctx, next) => {
    // A request that is refused before `addMemory` has no lease.
    const state: AppState = ctx.state;
    try {
      await next();
      // Statements that run while the answer is sent use the tenant's share of the database connections, too.
      await onBehalfOf(ctx.state.tenant, () => send(ctx, deps));
    } finally {
      state.memory?.end();
    }
  };
}

async function send(ctx: RequestContext, deps: SendingDeps): Promise<void> {
  const { status, body, headers, stalledMs } = ctx.state.result;
  ctx.status = status;
  if (headers !== undefined) ctx.set(headers);
  if (body === undefined) {
    ctx.body = null;
    ctx.status = status;
    return;
  }
  if (body instanceof Readable) {
    const { caller, hangUp } = ctx.state;
    const isOfUser = caller !== undefined && isEventStream(headers?.['Content-Type']);
    const leave = isOfUser && deps.openStreams.enter({ userId: caller.userId, body, hangUp: () => hangUp.abort() });
    try {
      return await sendStream(ctx, body, stalledMs);
    } finally {
      if (leave !== false) leave();
    }
  }
  const isReady = Buffer.isBuffer(body) || (typeof body === 'string' && headers?.['Content-Type'] !== undefined);
  if (!isReady) ctx.type = 'application/json';
  if (!isReady && holdsLazyJson(body)) return sendJson(ctx, body, ctx.state.memory);
  const whole = isReady ? body : toJsonText(body);
  if (whole.length <= SMALL_ANSWER_BYTES || ctx.method === 'HEAD') ctx.body = whole;
  else await sendBytes(ctx, whole, ctx.state.memory);
}
