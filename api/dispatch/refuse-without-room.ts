import type { Route } from '../http/route.js';
import { unavailable } from '../http/errors.js';
import type { DispatchDeps } from './deps.js';
import type { Step } from './step.js';

/** Refuses a change while PostgreSQL has no room, before the change has stored or called anything. */
export function refuseWithoutRoom({ databaseHealth }: Pick<DispatchDeps, 'databaseHealth'>): Step {
  return async (_ctx, next) => {
    if (databaseHealth.state === 'no room') throw unavailable();
    await next();
  };
}

export function changesSomething({ method, isRead }: Pick<Route, 'method' | 'isRead'>): boolean {
  return method !== 'GET' && isRead !== true;
}
