// Adds recorded changes to sums, which are faster to read than the changes. Every API process runs these loops.
import { foldStoredBytes, setStoredBytesLimit } from '../../db/projects/stored-bytes-repository.js';
import { foldWorkflowChanges } from '../../db/workflows/workflow-changes-repository.js';
import type { BackgroundDeps } from './deps.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';

const FIGURES_EVERY_MS = 5_000;
const BYTES_EVERY_MS = 3_000;

export function startFoldingFigures({ db, logger }: BackgroundDeps): BackgroundLoop {
  return startLoop(async (stopped) => {
    await foldWorkflowChanges(db, stopped).catch((error: unknown) => {
      logger.warn({ err: error }, 'the statistics of workflows were not updated; the next round tries again');
    });
    return FIGURES_EVERY_MS;
  });
}

export function startCountingBytes({
  db,
  logger,
  config,
}: Pick<BackgroundDeps, 'db' | 'logger' | 'config'>): BackgroundLoop {
  let isLimitStored = false;
  return startLoop(async (stopped) => {
    try {
      // Stored once per process: of two processes with different limits, the one that started last wins.
      if (!isLimitStored) await setStoredBytesLimit(db, config.maxProjectBytes);
      isLimitStored = true;
      await foldStoredBytes(db, stopped);
    } catch (error) {
      logger.warn({ err: error }, 'the sums of stored bytes were not updated; the next round tries again');
    }
    return BYTES_EVERY_MS;
  });
}
