// Removes what rate limiting leaves behind. In every API process; several at once do no harm.
import { setTimeout as delay } from 'node:timers/promises';
import { deleteEndedWindows } from '../db/rate-limits-repository.js';
import type { AppDeps } from './deps.js';

const INTERVAL_MS = 300_000;

export interface RateLimitSweeper {
  /** Resolves when a sweep that is under way is over. */
  stop(): Promise<void>;
}

/** Sweeps at once, then every five minutes. */
export function startRateLimitSweeper(deps: Pick<AppDeps, 'db' | 'logger'>): RateLimitSweeper {
  const stopped = new AbortController();
  const loop = runLoop(deps, stopped.signal);
  return {
    async stop() {
      stopped.abort();
      await loop;
    },
  };
}

async function runLoop({ db, logger }: Pick<AppDeps, 'db' | 'logger'>, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    try {
      await deleteEndedWindows(db);
    } catch (error) {
      logger.debug({ err: error }, 'ended rate limit windows could not be removed; the next sweep will');
    }
    await delay(INTERVAL_MS, undefined, { signal: stopped }).catch(() => undefined);
  }
}
