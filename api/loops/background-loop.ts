import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';

export interface BackgroundLoop {
  /** Ends the pause between two rounds; a call during a round skips the next pause. */
  soon(): void;
  /** Resolves when the current round has ended. */
  stop(): Promise<void>;
}

/** Runs a round at once, and the next one after the milliseconds that the round returns. A round must not throw. */
export function startLoop(round: (stopped: AbortSignal) => Promise<number>): BackgroundLoop {
  const stopped = new AbortController();
  let called = new AbortController();
  const loop = repeat();
  return {
    soon: () => called.abort(),
    async stop() {
      stopped.abort();
      called.abort();
      await loop;
    },
  };

  async function repeat(): Promise<void> {
    while (!stopped.signal.aborted) {
      called = new AbortController();
      await pause(await round(stopped.signal), called.signal);
    }
  }
}

export async function pause(durationMs: number, stopped: AbortSignal): Promise<void> {
  await sleep(durationMs, undefined, { signal: stopped }).catch(() => undefined);
}

/**
 * Lets callers pass one at a time, at most `perSecond`; a caller passes at once if none has passed recently, or if
 * `stopped` is aborted.
 */
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

interface Pool {
  atOnce: number;
  stopped: AbortSignal;
}

/** Runs `work` on each item, at most `atOnce` concurrently. Starts no further items once `stopped` is aborted. */
export async function workThrough<T>(
  items: readonly T[],
  { atOnce, stopped }: Pool,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = new PQueue({ concurrency: atOnce });
  const unlessStopped = async (item: T): Promise<void> => {
    if (!stopped.aborted) await work(item);
  };
  await queue.addAll(items.map((item) => () => unlessStopped(item)));
}
