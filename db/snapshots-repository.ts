// What runs execute, frozen: identical drawings share one row. Writer: run acceptance.
import { createHash } from 'node:crypto';
import type { Plan } from '../graph/plan.js';
import type { Db } from './client.js';

/** Stores the graph unless it is there already; answers its hash. `document`: JSON text, secrets masked. */
export async function storeSnapshot(db: Db, document: string, plan: Plan): Promise<Buffer> {
  const hash = createHash('sha256').update(document).digest();
  await db
    .insertInto('graph_snapshots')
    .values({ hash, document, plan: JSON.stringify(plan) })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .execute();
  return hash;
}
