// How busy the machine is: what a bare answer of a service takes, while something else of it is measured.
import { setTimeout as pause } from 'node:timers/promises';

export interface Pace {
  /** How long a bare answer took, in milliseconds: the slowest but one of a hundred. It is mostly a wait for a processor. */
  stop: () => Promise<number>;
}

const EVERY_MS = 50;

/** Asks the service for its health until it is stopped. */
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
