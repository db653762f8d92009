import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { storeAnswer } from '../../../db/human-tasks/answers-repository.js';
import { askPeople } from '../../../db/human-tasks/task-life.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { connect, openRun } from '../open-run.js';

describe('the answer of a person', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('wakes the wait of its node, and no earlier wait of the node for a worker', async () => {
    const run = await openRun(db, ['human']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, key);
    await sql`INSERT INTO waits (run_id, path, node_id, call, kind, pool, started_at, until, closed_at)
      VALUES (${run.id}, '', ${key.nodeId}, -1, 'worker', 'default', now(), 'infinity', now())`.execute(db);
    const asked = { label: 'Ask', message: 'Well?', fields: '[]', actions: '["yes"]', files: '[]', fileIds: [] };
    const people = { roles: [], users: [run.userId], excludeStarter: false, required: 1 };
    await askPeople(db, key, { ...asked, ...people, untilMs: Date.now() + 600_000 });
    const { task_id: taskId } = await db
      .selectFrom('human_tasks')
      .select('task_id')
      .where('run_id', '=', run.id)
      .executeTakeFirstOrThrow();
    const said = { action: 'yes', entered: '{}', enteredEnc: null, comment: '', fileIds: [] };
    const outcome = await storeAnswer(db, { taskId, userId: run.userId, ...said });
    assert.deepEqual(outcome, { status: 'settled', wait: key });
    const { rows } = await sql<{ call: number; isAnswered: boolean }>`
      SELECT call, answered_at IS NOT NULL AS "isAnswered" FROM waits WHERE run_id = ${run.id} ORDER BY call`.execute(
      db,
    );
    assert.deepEqual(rows, [
      { call: -1, isAnswered: false },
      { call: 0, isAnswered: true },
    ]);
  });
});
