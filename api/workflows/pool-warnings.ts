// Finds warnings about nodes whose pool has no worker.
import type { Db } from '../../db/core/client.js';
import { findUnattended } from '../../db/pools/workers-repository.js';
import { compilePlan } from '../../graph/compile-plan.js';
import { traitsOf } from '../../graph/kinds.js';
import { DEFAULT_POOL } from '../../graph/pools.js';
import type { JsonObject } from '../../graph/json.js';

export interface PoolWarning {
  node_id: string;
  code: 'pool_unattended';
  message: string;
  path?: string;
}

/** The limit on the warnings of this file; other files that find warnings have the same limit. */
const MAX_FINDINGS = 1000;

/** `ownPool` is the pool of the project; null is the default pool. */
export async function findPoolWarnings(db: Db, ownPool: string | null, drawing: JsonObject): Promise<PoolWarning[]> {
  const compiled = compilePlan(drawing);
  if (!compiled.ok) return [];
  const { ids, kinds, pools = {} } = compiled.plan;
  const placed = ids.flatMap((id, node) => {
    const { runs } = traitsOf(kinds[node]!);
    if (runs !== 'activity' && runs !== 'loop') return [];
    return [{ id, pool: pools[node] ?? ownPool ?? DEFAULT_POOL, isNamed: pools[node] !== undefined }];
  });
  const unattended = await findUnattended(db, [...new Set(placed.map(({ pool }) => pool))]);
  return placed
    .filter(({ pool }) => unattended.has(pool))
    .slice(0, MAX_FINDINGS)
    .map(({ id, pool, isNamed }) => {
      const message = `No worker serves the pool ${pool} now: the node waits until one does.`;
      return { node_id: id, code: 'pool_unattended', message, ...(isNamed && { path: 'settings.pool' }) };
    });
}
