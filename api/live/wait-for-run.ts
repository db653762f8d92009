import type { RunState } from '../../db/watches/run-watches-repository.js';
import type { RunHub } from './run-hub.js';
import type { RunReader } from './watched-runs.js';

interface WaitOptions {
  waitMs: number;
  signal: AbortSignal;
}

/**
 * Resolves with true as soon as the run is in another state than `stateTag`. Resolves with false after `waitMs` (or a
 * little earlier if there are many readers, see `RunHub.spread`), or when the caller hangs up or the hub stops.
 */
export function waitForChange(
  hub: RunHub,
  reader: RunReader,
  stateTag: string,
  options: WaitOptions,
): Promise<boolean> {
  return wait(hub, options, (end) =>
    hub.watch(reader, (state: RunState | undefined) => {
      if (state === undefined) end(false);
      else if (state.stateTag !== stateTag) end(true);
    }),
  );
}

/** Like `waitForChange`, but resolves with true only when the run has ended. */
export function waitForEnd(hub: RunHub, reader: RunReader, options: WaitOptions): Promise<boolean> {
  return wait(hub, options, (end) => hub.awaitEnd(reader, end));
}

function wait(
  hub: RunHub,
  { waitMs, signal }: WaitOptions,
  begin: (end: (isReached: boolean) => void) => () => void,
): Promise<boolean> {
  if (signal.aborted || hub.isStopping) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (isReached: boolean): void => {
      leave();
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      resolve(isReached);
    };
    const giveUp = (): void => end(false);
    const leave = begin(end);
    const timer = setTimeout(giveUp, hub.spread(waitMs));
    signal.addEventListener('abort', giveUp);
  });
}
