// Stores the graphs of accepted runs. A process sends a drawing that runs repeatedly to the database only once.
import { LRUCache } from 'lru-cache';
import type { Db } from '../db/core/client.js';
import { hashDrawing, storeSnapshot } from '../db/runs/snapshots-repository.js';
import type { Plan } from '../graph/plan.js';

export interface SnapshotStore {
  /**
   * Returns the graph's hash. `document` is JSON text with masked secrets. If the graph is gone when it is used, call
   * `forget`.
   */
  store(document: string, plan: Plan): Promise<Buffer>;
  forget(hash: Buffer): void;
}

const KNOWN = 10_000;

export function createSnapshotStore(db: Db): SnapshotStore {
  const known = new LRUCache<string, true>({ max: KNOWN });
  return {
    async store(document, plan) {
      const hash = hashDrawing(document);
      const key = hash.toString('hex');
      if (!known.has(key)) await storeSnapshot(db, document, plan);
      known.set(key, true);
      return hash;
    },
    forget: (hash) => void known.delete(hash.toString('hex')),
  };
}
