// Removes expired and deleted files to which nothing refers, and bytes without a file. Runs in every API process; an
// advisory lock admits one process at a time to the rows.
import { withAdvisoryLock } from '../../db/core/advisory-lock.js';
import { giveUpDeadCopies, giveUpUnusedCopies } from '../../db/files/copies-repository.js';
import { deleteUnusedFiles } from '../../db/files/files-repository.js';
import type { BackgroundDeps } from './deps.js';
import { startLoop, type BackgroundLoop } from '../loops/background-loop.js';

const INTERVAL_MS = 60_000;
const SOON_MS = 1_000;
const FILES_AT_ONCE = 200;

type SweepDeps = Pick<BackgroundDeps, 'db' | 'files' | 'logger'> & {
  config: Pick<BackgroundDeps['config'], 'resultRetentionDays'>;
};

export function startSweepingFiles(deps: SweepDeps): BackgroundLoop {
  return startLoop(async (stopped) => {
    try {
      return (await sweepFiles(deps, stopped)) ? SOON_MS : INTERVAL_MS;
    } catch (err) {
      // The next round deletes the files that this one has left.
      deps.logger.warn({ err }, 'a sweep of files failed; the next round tries again');
      return INTERVAL_MS;
    }
  });
}

/**
 * Runs one round. Returns true if more may be left. Rows are deleted before their bytes: if the process dies in
 * between, the copies are marked as given up, and the next round removes their bytes. Removes no further bytes once
 * `stopped` is aborted, because a slow store would delay the end of the process.
 */
export async function sweepFiles({ db, files, config }: SweepDeps, stopped?: AbortSignal): Promise<boolean> {
  const isFull = await withAdvisoryLock(db, 'files', async (trx) => {
    const { deleted, copyIds } = await deleteUnusedFiles(trx, config.resultRetentionDays, FILES_AT_ONCE);
    await giveUpUnusedCopies(trx, copyIds);
    return deleted === FILES_AT_ONCE || (await giveUpDeadCopies(trx, FILES_AT_ONCE)) === FILES_AT_ONCE;
  });
  return (await files.removeAbandoned(FILES_AT_ONCE, stopped)) || isFull === true;
}
