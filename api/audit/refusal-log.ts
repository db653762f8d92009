import type { Logger } from '../../telemetry/logger.js';
import { insertRefusals, type Refusal } from '../../db/audit/refusals-repository.js';
import type { Db } from '../../db/core/client.js';
import { together } from '../../db/core/together.js';

export interface RefusalLog {
  /** Resolves when the refusal is stored. Never throws: the request is refused in any case. */
  record: (refusal: Refusal) => Promise<void>;
}

/** The limit on refusals in one statement. Many refusals at once share a connection and a statement. */
const MOST_TOGETHER = 500;

export function createRefusalLog(db: Db, logger: Logger): RefusalLog {
  const insert = together(
    async (refusals: Refusal[]) => {
      await insertRefusals(db, refusals);
      return refusals;
    },
    { most: MOST_TOGETHER },
  );
  return {
    async record(refusal) {
      await insert(refusal).catch((error: unknown) => {
        logger.error({ err: error, action: refusal.action }, 'a refusal is missing in the audit log');
      });
    },
  };
}
