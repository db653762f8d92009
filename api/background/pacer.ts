import { pause } from './pause.js';

/** Lets callers through one after the other, at most `perSecond`; at once where none came of late. */
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
