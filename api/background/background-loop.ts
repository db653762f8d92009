import { pause } from './pause.js';

export interface BackgroundLoop {
  /** Resolves when the round that is under way is over. */
  stop(): Promise<void>;
}

/** A round at once, and the next one when the milliseconds have passed that it asks for. A round never throws. */
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
