// Keeps the figures of workflows fast to read: folds the changes of runs into the totals. Every API process attempts
// it.
import { foldWorkflowChanges } from '../../db/workflows/workflow-changes-repository.js';
import { startLoop, type BackgroundLoop } from './background-loop.js';
import type { AppDeps } from '../deps.js';

const EVERY_MS = 5_000;

export function startFoldingFigures({ db, logger }: AppDeps): BackgroundLoop {
  return startLoop(async () => {
    await foldWorkflowChanges(db).catch((error: unknown) => {
      logger.warn({ err: error }, 'the figures of workflows were not folded; the next round will');
    });
    return EVERY_MS;
  });
}
