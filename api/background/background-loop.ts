import { pause } from './pause.js';

export interface BackgroundLoop {
  /** Resolves when the current round has ended. */
  stop(): Promise<void>;
}

/** Runs a round at once, and the next one after the milliseconds that the round returns. A round never throws. */
export function startLoop(round: (stopped: AbortSignal) => Promise<number>): BackgroundLoop {
  const stopped = new AbortController();
  const loop = repeat(round, stopped.signal);
  return {
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}

async function repeat(round: (stopped: AbortSignal) => Promise<number>, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) await pause(await round(stopped), stopped);
}
