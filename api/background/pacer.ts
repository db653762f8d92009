import { pause } from './pause.js';

/** Lets callers pass one at a time, at most `perSecond`; a caller passes at once when none has passed recently. */
export function createPacer(perSecond: number): (stopped: AbortSignal) => Promise<void> {
  const stepMs = 1000 / perSecond;
  let freeAt = 0;
  return async (stopped) => {
    const now = performance.now();
    const turnAt = Math.max(now, freeAt);
    freeAt = turnAt + stepMs;
    if (turnAt > now) await pause(turnAt - now, stopped);
  };
}
