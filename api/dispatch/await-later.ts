import { Readable } from 'node:stream';
import type { DispatchDeps } from './deps.js';
import type { Step } from './step.js';

/**
 * Waits for a deferred answer. Ends the memory lease before that wait, and before a stream is sent. The answer that was
 * waited for has a new lease, unless it is a stream.
 */
export function awaitLater({ memory }: Pick<DispatchDeps, 'memory'>): Step {
  return async ({ state }, next) => {
    await next();
    let { result } = state;
    const isDeferred = result.later !== undefined;
    const isLong = isDeferred || result.body instanceof Readable;
    if (isLong) state.memory.end();
    if (isLong || result.stalledMs !== undefined) state.heldSinceMs ??= performance.now();
    while (result.later !== undefined) result = await result.later();
    if (isDeferred && !(result.body instanceof Readable)) state.memory = memory.lease(state.tenant, state.signal);
    state.result = result;
  };
}
