import type { RunState } from '../../db/watches/run-watches-repository.js';
import type { RunHub } from './run-hub.js';
import type { RunReader } from './watched-runs.js';

interface WaitOptions {
  waitMs: number;
  signal: AbortSignal;
}

/**
 * Resolves with true as soon as the state is reached; with false after `waitMs`, if the caller hangs up or the hub
 * stops.
 */
export function waitForRun(
  hub: RunHub,
  reader: RunReader,
  isReached: (state: RunState) => boolean,
  { waitMs, signal }: WaitOptions,
): Promise<boolean> {
  if (signal.aborted || hub.isStopping) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (hasReached: boolean): void => {
      leave();
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(hasReached);
    };
    const giveUp = (): void => end(false);
    const leave = hub.watch(reader, (state) => {
      if (state === undefined) giveUp();
      else if (isReached(state)) end(true);
    });
    const timer = setTimeout(giveUp, hub.spread(waitMs));
    signal.addEventListener('abort', giveUp);
  });
}
