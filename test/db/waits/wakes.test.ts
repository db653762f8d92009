import assert from 'node:assert/strict';
import { sql, type ControlledTransaction } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import type { Tables } from '../../../db/core/tables.js';
import { markWoken, claimUndeliveredWakes } from '../../../db/waits/wakes-repository.js';
import { connect, openRun, type OpenRun } from '../open-run.js';

const FAILING = 50;

describe('wakes whose signal was not confirmed', function () {
  this.timeout(120_000);
  let db: Database;
  /** This transaction is never committed, so that the reconciler of the shared stack does not take these wakes. */
  let trx: ControlledTransaction<Tables>;
  let run: OpenRun;

  before(async () => {
    db = await connect();
    run = await openRun(
      db,
      Array.from({ length: FAILING + 1 }, () => 'wait' as const),
    );
    trx = await db.startTransaction().execute();
    for (const [index, nodeId] of run.nodeIds.entries()) {
      const answeredAt = new Date(Date.now() - 1_000_000_000 + index);
      await sql`INSERT INTO waits (run_id, path, node_id, kind, until, answered_at)
        VALUES (${run.id}, '', ${nodeId}, 'human', now(), ${answeredAt})`.execute(trx);
    }
  });
  after(async () => {
    await trx.rollback().execute();
    await db.destroy();
  });

  const take = async (limit: number): Promise<string[]> =>
    (await claimUndeliveredWakes(trx, 3, limit)).flatMap(({ runId, nodeId }) => (runId === run.id ? [nodeId] : []));

  it('do not keep a later one waiting, however many of them fail', async () => {
    assert.deepEqual(new Set(await take(FAILING)), new Set(run.nodeIds.slice(0, FAILING)));
    const [last] = run.nodeIds.slice(FAILING);
    assert.deepEqual(await take(FAILING), [last]);
    await markWoken(trx, { runId: run.id, path: '', nodeId: last! });
    assert.deepEqual(await take(FAILING), []);
  });

  it('are sent again after a pause that doubles, up to five minutes', async () => {
    const [first] = run.nodeIds;
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      await sql`UPDATE waits SET next_signal_at = now() WHERE run_id = ${run.id} AND node_id = ${first}`.execute(trx);
      assert.ok((await take(1_000)).includes(first!));
      const { rows } = await sql<{ seconds: number }>`
        SELECT round(extract(epoch FROM next_signal_at - now()))::integer AS seconds FROM waits
        WHERE run_id = ${run.id} AND node_id = ${first}`.execute(trx);
      pauses.push(rows[0]!.seconds);
    }
    assert.deepEqual(pauses.slice(0, 4), [6, 12, 24, 48]);
    assert.deepEqual(pauses.slice(-2), [300, 300]);
  });
});
