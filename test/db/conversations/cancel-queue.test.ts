import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { SYSTEM } from '../../../db/audit/audit-entry.js';
import { recordChange } from '../../../db/audit/record-change.js';
import { cancelQueue } from '../../../db/conversations/queue-repository.js';
import type { Database } from '../../../db/core/client.js';
import { requestCancel } from '../../../db/runs/runs-repository.js';
import { connect, openRun, untilWaiting } from '../open-run.js';

describe('the runs of a conversation', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('are cancelled together beside a cancellation of one of them, and neither waits for the other in a circle', async () => {
    const { id } = await openRun(db, ['http']);
    const beside = await db.transaction().execute(async (trx) => {
      // As `lockQueue` does.
      await sql`SELECT FROM runs WHERE id = ${id} FOR SHARE`.execute(trx);
      const change = { action: 'run.cancelled', type: 'run', doer: SYSTEM, key: { id } } as const;
      const single = recordChange(db, change, (other) => requestCancel(other, id, 0));
      await untilWaiting('update "runs"');
      const { toNotify } = await cancelQueue(
        trx,
        { current: [id], queued: [] },
        { doer: SYSTEM, startGraceSeconds: 0 },
      );
      assert.deepEqual(toNotify, [id]);
      return { single };
    });
    assert.equal(await beside.single, true);
    const records = await sql`SELECT FROM audit_records WHERE target_id = ${id} AND action = 'run.cancelled'`.execute(
      db,
    );
    assert.equal(records.rows.length, 2);
  });
});
