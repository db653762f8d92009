import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { endWait, startWait } from '../../../db/waits/waits-repository.js';
import { connect, openRun } from '../open-run.js';

describe('the wait of a node', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('does not end because the node has waited for a worker before', async () => {
    const run = await openRun(db, ['wait']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await startWait(db, key, { kind: 'time', untilMs: Date.now() + 3_600_000 });
    await sql`
      INSERT INTO waits (run_id, path, node_id, call, kind, pool, started_at, until, closed_at)
      VALUES (${run.id}, '', ${key.nodeId}, -1, 'worker', 'default', now(), 'infinity', now())`.execute(db);
    assert.equal(await endWait(db, key), undefined);
    await sql`UPDATE waits SET until = now() WHERE run_id = ${run.id} AND call = 0`.execute(db);
    assert.deepEqual(await endWait(db, key), { answerBytes: null });
  });
});
