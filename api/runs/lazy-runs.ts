import { readListed, type HistoryRun, type ListedLater } from '../../db/runs/history-repository.js';
import type { RunDeps } from './deps.js';
import { lazyList, type LazyJson } from '../http/json-text.js';

/**
 * Bytes of memory per run: its row, its input, the copies of its drawing of at most 1 MiB, and results of at most
 * 1 MiB.
 */
const RUN_BYTES = 8 * 1024 * 1024;

/** Reads the runs of a large page one by one while the answer is sent. */
export function lazyRuns(
  { db }: Pick<RunDeps, 'db'>,
  later: ListedLater,
  toItem: (run: HistoryRun) => unknown,
): LazyJson {
  return lazyList(async function* (memory) {
    for (const id of later.ids) {
      await memory.take(RUN_BYTES);
      const run = await readListed(db, id, later);
      if (run !== undefined) yield toItem(run);
      memory.give(RUN_BYTES);
    }
  });
}
