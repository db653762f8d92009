import { Readable } from 'node:stream';
import type { Step } from './step.js';

/** Waits for an answer that comes later. Before that, and before a stream is sent, the memory of the request is released. */
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
