// Counts what projects store: folds the changes into the sums. Every API process attempts it.
import { foldStoredBytes, setStoredBytesLimit } from '../../db/projects/stored-bytes-repository.js';
import type { AppDeps } from '../deps.js';
import { startLoop, type BackgroundLoop } from './background-loop.js';

const EVERY_MS = 3_000;

export function startCountingBytes({ db, logger, config }: Pick<AppDeps, 'db' | 'logger' | 'config'>): BackgroundLoop {
  let isLimitTold = false;
  return startLoop(async () => {
    try {
      // Once: of two processes with different limits the one that was started last counts.
      if (!isLimitTold) await setStoredBytesLimit(db, config.maxProjectBytes);
      isLimitTold = true;
      await foldStoredBytes(db);
    } catch (error) {
      logger.warn({ err: error }, 'the bytes of projects were not counted; the next round will');
    }
    return EVERY_MS;
  });
}
