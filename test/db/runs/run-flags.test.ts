import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { archiveWorkflow } from '../../../db/cascades/archive-workflow.js';
import type { Database } from '../../../db/core/client.js';
import { setRunFlag } from '../../../db/runs/run-flags-repository.js';
import { connect, openRun, untilWaiting } from '../open-run.js';

describe('the flag of an open run', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is set beside a deletion of its workflow, and neither waits for the other in a circle', async () => {
    const run = await openRun(db, ['http']);
    const { workflow_id: workflowId } = await db
      .selectFrom('runs')
      .select('workflow_id')
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow();
    const flag = await db.transaction().execute(async (trx) => {
      // The deletion has locked the open runs so far.
      await sql`SELECT FROM runs WHERE id = ${run.id} FOR NO KEY UPDATE`.execute(trx);
      const set = setRunFlag(db, { workflowId, runId: run.id, flag: 'is_api_run', value: true });
      await untilWaiting('results_expired_at');
      assert.equal(await archiveWorkflow(trx, run.projectId, workflowId), true);
      return { set };
    });
    assert.equal(await flag.set, true);
  });
});
