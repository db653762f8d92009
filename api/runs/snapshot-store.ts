// Stores the graphs of accepted runs: a drawing that runs again and again is sent to the database once a process.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/core/client.js';
import { hashDrawing, storeSnapshot } from '../../db/runs/snapshots-repository.js';
import type { Plan } from '../../graph/plan.js';

export interface SnapshotStore {
  /** The graph's hash. `document`: JSON text, secrets masked. It may be gone by the time it is used: then `forget` it. */
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
