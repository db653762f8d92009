// Limits the concurrent password hashes of this process: each occupies a processor for a while and takes 16 MiB. A
// flood of logins waits here without delaying other requests.
import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { overloaded } from '../http/errors.js';

/** By default, Node.js has four threads for such work, with which it also resolves host names. */
const MOST_AT_ONCE = 2;
/** The limit applies to each of the two priorities. */
const MOST_WAITING = 64;
/** From this many waiting logins from unknown networks on, `isBusy` returns true. */
const BUSY = 8;

export interface HashQueue {
  /**
   * Runs `work` in the order of arrival, preferred work first. Throws 503 if too much work of its priority waits, and
   * the signal's reason if the signal was aborted while the work waited.
   */
  run<T>(work: () => Promise<T>, options: { isPreferred: boolean; signal: AbortSignal }): Promise<T>;
  /** Throws 503 if `run` would. */
  refuseWhenFull(isPreferred: boolean): void;
  /** True if many logins from unknown networks wait. */
  isBusy(): boolean;
}

interface Options {
  atOnce: number;
  mostWaiting: number;
  busy: number;
}

/** `atOnce` is at most half of the processors (but at least 1), because other requests need the rest. */
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
      // The queue does not get the signal, because an abort would free the slot of a hash that is still computed.
      const unlessAborted = () => {
        signal.throwIfAborted();
        return work();
      };
      return queue.add(unlessAborted, { priority: priorityOf(isPreferred) });
    },
  };
}
