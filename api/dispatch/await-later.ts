import { Readable } from 'node:stream';
import type { Step } from './step.js';

/** Waits for a deferred answer. Ends the memory lease before that wait, and before a stream is sent. */
export function awaitLater(): Step {
  return async ({ state }, next) => {
    await next();
    let { result } = state;
    const isLong = result.later !== undefined || result.body instanceof Readable;
    if (isLong) state.memory.end();
    if (isLong || result.stalledMs !== undefined) state.heldSinceMs ??= performance.now();
    while (result.later !== undefined) result = await result.later();
    state.result = result;
  };
}
