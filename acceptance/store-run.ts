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

const MAX_ATTEMPTS = 3;

/** What a run executes, as it is stored. */
export type Graph = Pick<StoredDrawing, 'document'> & { plan: Plan };

/** `insert` stores the run with the graph's hash. */
export function storeRun<Stored>(
  snapshots: SnapshotStore,
  graph: Graph,
  insert: (snapshotHash: Buffer) => Promise<Stored>,
): Promise<Stored> {
  return storeRuns(snapshots, [graph], ([hash]) => insert(hash!));
}

/**
 * The same for runs that are stored together: `insert` gets the hashes in the order of the graphs. An existing graph
 * may have been an orphan that retention deleted meanwhile; it is then stored again and is too young to be deleted.
 */
export async function storeRuns<Stored>(
  snapshots: SnapshotStore,
  graphs: readonly Graph[],
  insert: (snapshotHashes: readonly Buffer[]) => Promise<Stored>,
): Promise<Stored> {
  for (let attempt = 1; ; attempt += 1) {
    const hashes: Buffer[] = [];
    for (const { document, plan } of graphs) hashes.push(await snapshots.store(JSON.stringify(document), plan));
    try {
      return await insert(hashes);
    } catch (error) {
      if (!isSnapshotGone(error) || attempt === MAX_ATTEMPTS) throw error;
      for (const hash of hashes) snapshots.forget(hash);
    }
  }
}
