import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { addPoolNodes, endServedWaits, readPools, startWorkerWaits } from '../../../db/pools/pool-nodes-repository.js';
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

describe('the backlog of a pool', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('counts a node whose worker is gone, but not while the node waits for something other than a worker', async () => {
    const pool = `pool-${randomUUID()}`;
    const run = await openRun(db, ['agent']);
    const node = { runId: run.id, path: '' };
    const nodeId = run.nodeIds[0]!;
    const addWait = (call: number, kind: string): Promise<unknown> =>
      sql`INSERT INTO waits (run_id, path, node_id, call, kind, pool, started_at, until)
        SELECT ${run.id}, '', ${nodeId}, ${call}, ${kind}, ${kind === 'worker' ? pool : null},
          CASE WHEN ${kind} = 'worker' THEN now() END, now() + interval '1 hour'`.execute(db);
    const backlog = async (): Promise<number | undefined> =>
      (await readPools(db)).find(({ name }) => name === pool)?.backlog;
    try {
      const dead = randomUUID();
      await sql`INSERT INTO workers (id, pool, seen_at) VALUES (${dead}, ${pool}, now() - interval '1 minute')`.execute(
        db,
      );
      await addPoolNodes(db, node, [nodeId], { pool, buildId: null });
      assert.equal(await backlog(), 1, 'no worker has taken it');
      await claimNode(db, { ...node, nodeId }, { worker: dead });
      assert.equal(await backlog(), 1, 'its worker is gone');
      await addWait(-1, 'worker');
      assert.equal(await backlog(), 1, 'it waits for a worker');
      await addWait(0, 'callback');
      assert.equal((await backlog()) ?? 0, 0, 'it waits for a callback');
    } finally {
      await sql`DELETE FROM workers WHERE pool = ${pool}`.execute(db);
      await endRun(db, run.id, { status: 'cancelled' });
    }
  });
});
