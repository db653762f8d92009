import type { RouteDeclaration } from '../http/route.js';
import type { RequestContext, Step } from './step.js';

export function addRoute(route: RouteDeclaration): Step {
  return async ({ state }, next) => {
    state.route = route;
    state.handlerInput = {};
    await next();
  };
}

/** The signal exists before the credentials are checked, because a caller may hang up during that check. */
export function addSignal(): Step {
  return async (ctx, next) => {
    ctx.state.hangUp = hangUpOf(ctx);
    ctx.state.signal = ctx.state.hangUp.signal;
    await next();
  };
}

function hangUpOf({ res }: RequestContext): AbortController {
  const controller = new AbortController();
  if (res.destroyed) controller.abort();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller;
}
