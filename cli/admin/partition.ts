// `admin database partition`: divides the largest table (docs/operate/capacity.md).
import { partitionNodeResults } from '../../db/schema/partition.js';
import { pendingMigrations } from '../../db/schema/migrate.js';
import { AdminError, type AdminContext } from './context.js';

/**
 * Returns the number of partitions, of rows that were copied, and of seconds. Throws AdminError if migrations are
 * pending or the table is already partitioned.
 */
export async function partition({ db }: AdminContext, into: number): Promise<object> {
  const pending = await pendingMigrations(db);
  if (pending.length > 0) throw new AdminError('The database needs migrations first: npm run migrate.');
  const startedAt = performance.now();
  const done = await partitionNodeResults(db, into);
  if (done === undefined) throw new AdminError('node_results is partitioned already.');
  return { table: 'node_results', ...done, seconds: Math.round((performance.now() - startedAt) / 1000) };
}
