// Adds new records of the audit log to chains of hashes, and merges refusals that exceed a limit into one record
// (docs/operate/audit.md). It runs in every API process; an advisory lock permits one batch at a time.
import { chainRecords } from '../../db/audit/chain-repository.js';
import { foldRefusals } from '../../db/audit/refusals-repository.js';
import { withAdvisoryLock } from '../../db/core/advisory-lock.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';
import type { Database } from '../../db/core/client.js';
import type { Logger } from '../../telemetry/logger.js';

/** The documented maximum is ten seconds from the commit of a record until it is chained. */
const INTERVAL_MS = 2_000;
const BATCH = 1_000;

/** `stop` resolves when the current batch has ended, and the merge of refusals after it. */
export function startChainingAudit({ db, logger }: { db: Database; logger: Logger }): BackgroundLoop {
  return startLoop(async (stopped) => {
    try {
      for (let chained = BATCH; chained === BATCH && !stopped.aborted;) {
        chained = (await withAdvisoryLock(db, 'audit', (trx) => chainRecords(trx, BATCH))) ?? 0;
      }
      await withAdvisoryLock(db, 'audit', foldRefusals);
    } catch (error) {
      logger.warn({ err: error }, 'records of the audit log could not be chained; the next round tries again');
    }
    return INTERVAL_MS;
  });
}
