// Limits the concurrent starts of this process: more would only slow each one down, until all of them time out.
import PQueue from 'p-queue';

export interface StartSlots {
  /**
   * Calls `start` once there is a slot, and does not wait for its end. Returns false without calling it if there was no
   * slot within `patienceMs`. `start` must not reject.
   */
  begin(start: () => Promise<void>, patienceMs: number): Promise<boolean>;
  idle(): Promise<void>;
}

export function createStartSlots(count: number): StartSlots {
  const queue = new PQueue({ concurrency: count });
  return {
    begin: (start, patienceMs) =>
      new Promise((resolve) => {
        const waiting = new AbortController();
        const timer = setTimeout(() => waiting.abort(), patienceMs);
        const begin = (): Promise<void> => {
          clearTimeout(timer);
          resolve(true);
          return start();
        };
        queue.add(begin, { signal: waiting.signal }).catch(() => resolve(false));
      }),
    idle: () => queue.onIdle(),
  };
}
