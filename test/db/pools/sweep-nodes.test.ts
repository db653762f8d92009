import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { sweepPoolNodes } from '../../../db/pools/pool-nodes-repository.js';
import { withMigratedDatabase } from '../migrated-database.js';

describe('due nodes of a pool that have ended', () => {
  it('are deleted 500 at a time, and a batch says when more may be left', async () => {
    await withMigratedDatabase(async (db) => {
      await sql`
        INSERT INTO pool_nodes (run_id, path, node_id, pool)
        SELECT gen_random_uuid(), '', 'node', 'gpu' FROM generate_series(1, 1100)`.execute(db);
      const batches: [hasMore: boolean, left: number][] = [];
      do {
        const hasMore = await sweepPoolNodes(db);
        const { rows } = await sql<{ left: string }>`SELECT count(*) AS left FROM pool_nodes`.execute(db);
        batches.push([hasMore, Number(rows[0]!.left)]);
      } while (batches.at(-1)![0]);
      assert.deepEqual(batches, [
        [true, 600],
        [true, 100],
        [false, 0],
      ]);
    });
  });
});
