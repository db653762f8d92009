import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { cancelOpenRuns } from '../../../db/runs/open-runs.js';
import { connect, openRun, untilWaiting } from '../open-run.js';

describe('the cancellation of all open runs of a workflow', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('waits for the end of a parent without a lock on its children', async () => {
    // One child is before its parent and one behind it, in whichever order a scan finds them. None is due, because the
    // reconciler would end a run that Temporal does not know.
    const [first, parent, last] = [await openRun(db, []), await openRun(db, []), await openRun(db, [])];
    const ids = [first.id, parent.id, last.id];
    const { workflow_id: workflowId } = await db
      .selectFrom('runs')
      .select('workflow_id')
      .where('id', '=', parent.id)
      .executeTakeFirstOrThrow();
    for (const [index, id] of ids.entries()) {
      const above = id === parent.id ? null : parent.id;
      const place = above === null ? null : '';
      await sql`UPDATE runs SET workflow_id = ${workflowId}, next_check_at = now() + make_interval(hours => ${index + 1}::integer),
        parent_run_id = ${above}::uuid, root_run_id = ${above}::uuid, parent_path = ${place}, parent_node_id = ${place},
        depth = ${above === null ? 0 : 1}::integer WHERE id = ${id}`.execute(db);
    }
    let cancelling: Promise<void> | undefined;
    await db.transaction().execute(async (trx) => {
      await sql`SELECT FROM runs WHERE id = ${parent.id} FOR UPDATE`.execute(trx);
      cancelling = cancelOpenRuns(db, { workflowId });
      cancelling.catch(() => undefined);
      await untilWaiting('"cancel_requested_at" = coalesce(cancel_requested_at, now())');
      await sql`SELECT FROM runs WHERE id = ANY (${[first.id, last.id]}::uuid[]) FOR UPDATE NOWAIT`.execute(trx);
    });
    await cancelling;
    const asked = db
      .selectFrom('runs')
      .select('id')
      .where('id', 'in', ids)
      .where('cancel_requested_at', 'is not', null);
    assert.equal((await asked.execute()).length, 3);
  });
});
