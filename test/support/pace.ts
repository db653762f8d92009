// How busy the machine is: what a bare answer of a service takes, while something else of it is measured.
import { setTimeout as pause } from 'node:timers/promises';

export interface Pace {
  /** How much longer than on a quiet machine a bare answer took, in milliseconds; by the slowest of a hundred. */
  stop: () => Promise<number>;
}

const EVERY_MS = 50;
/** The 99th percentile beside a load that takes all processors of a machine of two. */
const QUIET_MS = 60;

/** Asks the service for its health until it is stopped. A limit of a time is longer by what each wait for a processor took. */
export function watchPace(apiUrl: string): Pace {
  const over = new AbortController();
  const tookMs: number[] = [];
  const asking = (async () => {
    while (!over.signal.aborted) {
      const startedAt = performance.now();
      await (await fetch(`${apiUrl}/healthz`)).arrayBuffer();
      tookMs.push(performance.now() - startedAt);
      await pause(EVERY_MS);
    }
  })();
  return {
    async stop() {
      over.abort();
      await asking;
      const sorted = tookMs.toSorted((a, b) => a - b);
      return Math.max(0, (sorted[Math.floor(sorted.length * 0.99)] ?? 0) - QUIET_MS);
    },
  };
}
