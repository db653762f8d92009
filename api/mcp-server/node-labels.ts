// Caches the labels of nodes for progress messages. Calls of the same drawing share them instead of holding copies:
// there may be thousands of calls, each of a drawing with thousands of nodes.
import { LRUCache } from 'lru-cache';
import type { Db } from '../../db/core/client.js';
import { findPlanOfSnapshot } from '../../db/runs/tool-runs-repository.js';
import { rootPlan } from '../../graph/plan.js';

export type NodeLabels = ReadonlyMap<string, string>;

/** The limit for all drawings together, about 20 MB. Evicted labels are read again. */
const CACHED_LABELS = 100_000;

const cache = new LRUCache<string, NodeLabels, Db>({
  maxSize: CACHED_LABELS,
  sizeCalculation: (labels) => labels.size + 1,
  // A caller gets its labels even if other drawings evict them during the read.
  ignoreFetchAbort: true,
  fetchMethod: (hash, _, { context: db }) => readLabels(db, Buffer.from(hash, 'hex')),
});

/** Returns the labels of the nodes outside loops, by node id. `hash` is the hash of the run's stored graph. */
export async function labelsOf(db: Db, hash: Buffer): Promise<NodeLabels> {
  return cache.forceFetch(hash.toString('hex'), { context: db });
}

async function readLabels(db: Db, hash: Buffer): Promise<NodeLabels> {
  const plan = await findPlanOfSnapshot(db, hash);
  if (plan === undefined) return new Map();
  const { ids, labels } = rootPlan(plan);
  return new Map(ids.map((id, index) => [id, labels[index]!]));
}
