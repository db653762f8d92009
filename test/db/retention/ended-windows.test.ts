import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { countDelivery } from '../../../db/hooks/hooks-repository.js';
import { deleteEndedWindows } from '../../../db/retention/retention-repository.js';
import { connect } from '../open-run.js';

describe('the window in which the deliveries of a hook are counted', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is deleted after its end, also where a late delivery has counted in it after its hook was deleted', async () => {
    const [ended, current] = [-randomInt(1, 1_000_000), -randomInt(1_000_000, 2_000_000)];
    const trx = await db.startTransaction().execute();
    try {
      for (const hookId of [ended, current]) await countDelivery(trx, hookId, 'deliveries');
      await sql`UPDATE hook_windows SET ends_at = now() WHERE hook_id = ${ended}`.execute(trx);
      const { expired } = await deleteEndedWindows(trx, 1_000_000);
      assert.ok(expired['hook_windows']! >= 1);
      const left = await trx
        .selectFrom('hook_windows')
        .select('hook_id')
        .where('hook_id', 'in', [ended, current])
        .execute();
      assert.deepEqual(left, [{ hook_id: current }]);
    } finally {
      await trx.rollback().execute();
    }
  });
});
