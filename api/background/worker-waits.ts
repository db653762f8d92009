// Finds nodes that wait because their pool has no worker (docs/operate/pools.md). Every API process runs this loop, and
// rounds of several processes do no harm.
import { endServedWaits, startWorkerWaits, sweepPoolNodes } from '../../db/pools/pool-nodes-repository.js';
import { deleteOldWorkers } from '../../db/pools/workers-repository.js';
import type { BackgroundDeps } from './deps.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';

const EVERY_MS = 2_000;
const CLEAN_EVERY_MS = 3_600_000;

export function startFindingWorkerWaits({ db, logger }: Pick<BackgroundDeps, 'db' | 'logger'>): BackgroundLoop {
  let cleanAt = 0;
  return startLoop(async (stopped) => {
    try {
      await endServedWaits(db);
      await startWorkerWaits(db);
      while (await sweepPoolNodes(db)) if (stopped.aborted) return EVERY_MS;
      if (performance.now() >= cleanAt) {
        await deleteOldWorkers(db);
        cleanAt = performance.now() + CLEAN_EVERY_MS;
      }
    } catch (error) {
      logger.debug({ err: error }, 'waits for workers were not updated; the next round tries again');
    }
    return EVERY_MS;
  });
}
