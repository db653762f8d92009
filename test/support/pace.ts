// Measures how busy the machine is during another measurement, by the response time of `/healthz`.
import { setTimeout as pause } from 'node:timers/promises';

export interface Pace {
  /** Returns the 99th percentile of the response times in milliseconds, which is mostly the wait for a processor. */
  stop: () => Promise<number>;
}

const EVERY_MS = 50;

/** Requests `/healthz` repeatedly until `stop` is called. */
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
      return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
    },
  };
}
