// Stores accepted runs and drafts: first the graph, then the run that refers to it.
import { LRUCache } from 'lru-cache';
import type { Db } from '../db/core/client.js';
import { isSnapshotGone, hashDrawing, hashTest, storeSnapshot } from '../db/runs/snapshots-repository.js';
import type { StoredDrawing } from '../db/workflows/workflows-repository.js';
import type { Plan } from '../graph/plan.js';

/**
 * The time after which the reconciler asks Temporal about a run that was accepted, or taken out of the queue of a
 * conversation. The time exceeds the timeout of a start, so if Temporal doesn't know the run by then, the start counts
 * as lost.
 */
export const START_GRACE_SECONDS = 15;

const MAX_ATTEMPTS = 3;

/** The graph that a run executes. Secrets are masked in `document`. */
type Graph = Pick<StoredDrawing, 'document'> & {
  plan: Plan;
  /** True if the plan is that of a test run instead of the whole drawing. */
  isTest?: boolean;
  /** The graph's hash, if it is known. */
  hash?: Buffer | undefined;
};

export function storeRun<Stored>(
  snapshots: SnapshotStore,
  graph: Graph,
  insert: (snapshotHash: Buffer) => Promise<Stored>,
): Promise<Stored> {
  return storeRuns(snapshots, [graph], ([hash]) => insert(hash!));
}

/**
 * Stores runs together; `insert` gets the hashes in the order of the graphs. Before `insert` commits, retention may
 * delete a stored graph to which no other run refers. `insert` then fails, and the graph is stored again, in a row that
 * is too recent for retention to delete.
 */
export async function storeRuns<Stored>(
  snapshots: SnapshotStore,
  graphs: readonly Graph[],
  insert: (snapshotHashes: readonly Buffer[]) => Promise<Stored>,
): Promise<Stored> {
  for (let attempt = 1; ; attempt += 1) {
    const hashes: Buffer[] = [];
    for (const graph of graphs) hashes.push(await snapshots.store(graph));
    try {
      return await insert(hashes);
    } catch (error) {
      if (!isSnapshotGone(error) || attempt === MAX_ATTEMPTS) throw error;
      for (const hash of hashes) snapshots.forget(hash);
    }
  }
}

// Caches the hashes of stored graphs, so that a process sends a drawing that runs repeatedly to the database only once.

export interface SnapshotStore {
  /** Returns the graph's hash. Callers call `forget` if the graph is later found deleted. */
  store(graph: Graph): Promise<Buffer>;
  forget(hash: Buffer): void;
}

const KNOWN = 10_000;

export function createSnapshotStore(db: Db): SnapshotStore {
  const known = new LRUCache<string, true>({ max: KNOWN });
  return {
    async store({ document, plan, isTest = false, hash: expected }) {
      if (expected !== undefined && known.get(expected.toString('hex')) === true) return expected;
      const text = JSON.stringify(document);
      const hash = isTest ? hashTest(text, plan) : hashDrawing(text);
      const key = hash.toString('hex');
      if (!known.has(key)) await storeSnapshot(db, text, plan, hash);
      known.set(key, true);
      return hash;
    },
    forget: (hash) => void known.delete(hash.toString('hex')),
  };
}
