// Stores accepted runs: first the graph, then the run that refers to it.
import { isSnapshotGone } from '../db/runs/snapshots-repository.js';
import type { StoredDrawing } from '../db/workflows/workflows-repository.js';
import type { Plan } from '../graph/plan.js';
import type { SnapshotStore } from './snapshot-store.js';

/**
 * After this time the reconciler asks Temporal for the run. It exceeds the time of a start, so that an unknown run then
 * means a lost start.
 */
export const START_GRACE_SECONDS = 15;

const MAX_SNAPSHOT_TRIES = 3;

/**
 * `insert` stores the run with the graph's hash. An existing graph may have been an orphan that retention deleted
 * meanwhile; it is then stored again and is too young to be deleted.
 */
export async function storeRun<Stored>(
  snapshots: SnapshotStore,
  { document, plan }: Pick<StoredDrawing, 'document'> & { plan: Plan },
  insert: (snapshotHash: Buffer) => Promise<Stored>,
): Promise<Stored> {
  for (let tries = 1; ; tries += 1) {
    const snapshotHash = await snapshots.store(JSON.stringify(document), plan);
    try {
      return await insert(snapshotHash);
    } catch (error) {
      if (!isSnapshotGone(error) || tries === MAX_SNAPSHOT_TRIES) throw error;
      snapshots.forget(snapshotHash);
    }
  }
}
