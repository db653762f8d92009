// Tells the database that this worker lives (docs/operate/pools.md).
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../db/core/client.js';
import { REPORT_EVERY_MS, reportWorker, stopWorker, type LivingWorker } from '../../db/pools/workers-repository.js';
import type { Logger } from '../../telemetry/logger.js';

/** The delay until the next report if one has failed. */
const AGAIN_AFTER_MS = 1_000;

export interface LifeReports {
  /** Call this when the worker takes no more nodes: reports that it stops. Never rejects. */
  stop(): Promise<void>;
}

/** Reports until `stop`. The first report is made before nodes are taken, if the database answers. */
export async function startLifeReports(db: Database, worker: LivingWorker, logger: Logger): Promise<LifeReports> {
  const stopping = new AbortController();
  const report = async (): Promise<number> => {
    try {
      await reportWorker(db, worker);
      return REPORT_EVERY_MS;
    } catch (error) {
      logger.debug({ err: error }, 'the worker could not report that it lives');
      return AGAIN_AFTER_MS;
    }
  };
  const repeat = async (firstMs: number): Promise<void> => {
    for (let nextMs = firstMs; ; nextMs = await report()) {
      await pause(nextMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;
    }
  };
  const reporting = repeat(await report());
  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= (async () => {
        stopping.abort();
        await reporting;
        await stopWorker(db, worker.id).catch((error: unknown) => {
          logger.debug({ err: error }, 'the worker could not report that it stops');
        });
      })();
      return stopped;
    },
  };
}
