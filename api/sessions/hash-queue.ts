// Limits the passwords that this process compares at once: each takes a processor for a while and 16 MiB. A flood of
// logins waits here, and the rest of the service goes on.
import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { overloaded } from '../http/errors.js';

/** Node has four threads, on which names are resolved, too. */
const MOST_AT_ONCE = 2;
/** The limit applies to each of the two lines. */
const MOST_WAITING = 64;
/** This many strangers in line are a flood. */
const BUSY = 8;

export interface HashQueue {
  /**
   * Runs `work` in its turn, those of `isPreferred` first. Throws the 503 when the line is full, and the signal's reason
   * when it was aborted in line.
   */
  run<T>(work: () => Promise<T>, options: { isPreferred: boolean; signal: AbortSignal }): Promise<T>;
  /** Throws the 503 when `run` would. */
  refuseWhenFull(isPreferred: boolean): void;
  /** Returns whether many strangers wait. */
  isBusy(): boolean;
}

interface Options {
  atOnce: number;
  mostWaiting: number;
  busy: number;
}

/** Half of the processors: requests that have nothing to do with logins need the others. */
const DEFAULTS: Options = {
  atOnce: Math.min(MOST_AT_ONCE, Math.max(1, Math.floor(availableParallelism() / 2))),
  mostWaiting: MOST_WAITING,
  busy: BUSY,
};

export function createHashQueue({ atOnce, mostWaiting, busy }: Options = DEFAULTS): HashQueue {
  const queue = new PQueue({ concurrency: atOnce });
  const priorityOf = (isPreferred: boolean): number => (isPreferred ? 1 : 0);
  const waitingOf = (isPreferred: boolean): number => queue.sizeBy({ priority: priorityOf(isPreferred) });

  function refuseWhenFull(isPreferred: boolean): void {
    if (queue.pending >= atOnce && waitingOf(isPreferred) >= mostWaiting) throw overloaded();
  }

  return {
    refuseWhenFull,
    isBusy: () => waitingOf(false) >= busy,
    async run(work, { isPreferred, signal }) {
      refuseWhenFull(isPreferred);
      // The queue does not get the signal: it would give the place of a comparison away that still goes on.
      const unlessAborted = () => {
        signal.throwIfAborted();
        return work();
      };
      return queue.add(unlessAborted, { priority: priorityOf(isPreferred) });
    },
  };
}
