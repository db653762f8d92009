// Limits the passwords that this process compares at once: each takes a processor for a while and 16 MiB. A flood of
// logins waits here, and the rest of the service goes on.
import { availableParallelism } from 'node:os';
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
  let free = atOnce;
  const preferred: (() => void)[] = [];
  const strangers: (() => void)[] = [];
  const lineOf = (isPreferred: boolean) => (isPreferred ? preferred : strangers);

  function refuseWhenFull(isPreferred: boolean): void {
    if (free === 0 && lineOf(isPreferred).length >= mostWaiting) throw overloaded();
  }

  async function take(isPreferred: boolean): Promise<void> {
    refuseWhenFull(isPreferred);
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => lineOf(isPreferred).push(resolve));
  }

  function giveBack(): void {
    const next = preferred.shift() ?? strangers.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    refuseWhenFull,
    isBusy: () => strangers.length >= busy,
    async run(work, { isPreferred, signal }) {
      await take(isPreferred);
      try {
        signal.throwIfAborted();
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}
