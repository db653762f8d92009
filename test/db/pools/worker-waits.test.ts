import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { endServedWaits, startWorkerWaits } from '../../../db/pools/pool-nodes-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { connect, openRun } from '../open-run.js';

describe('a node whose worker died, in a pool without a row of the node, as in the default pool', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('waits until a worker of its build lives, and not only until one of another build does', async () => {
    // The processes of the shared stack report no workers of this pool.
    const pool = `pool-${randomUUID()}`;
    const run = await openRun(db, ['http']);
    const addWorker = async (id: string, build: string, seenInSeconds: number): Promise<void> => {
      await sql`INSERT INTO workers (id, pool, build_id, seen_at)
        VALUES (${id}, ${pool}, ${build}, now() + make_interval(secs => ${seenInSeconds}))`.execute(db);
    };
    const isWaiting = async (): Promise<boolean[]> => {
      const { rows } = await sql<{ isOpen: boolean }>`
        SELECT closed_at IS NULL AS "isOpen" FROM waits WHERE run_id = ${run.id} ORDER BY call DESC`.execute(db);
      return rows.map(({ isOpen }) => isOpen);
    };
    try {
      const dead = randomUUID();
      await addWorker(dead, 'a', -60);
      await addWorker(randomUUID(), 'b', 60);
      await claimNode(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! }, { worker: dead });
      for (let round = 0; round < 3; round += 1) {
        await startWorkerWaits(db);
        await endServedWaits(db);
        assert.deepEqual(await isWaiting(), [true], `round ${round}`);
      }
      await addWorker(randomUUID(), 'a', 60);
      await endServedWaits(db);
      assert.deepEqual(await isWaiting(), [false]);
    } finally {
      await sql`DELETE FROM workers WHERE pool = ${pool}`.execute(db);
      await endRun(db, run.id, { status: 'cancelled' });
    }
  });
});
