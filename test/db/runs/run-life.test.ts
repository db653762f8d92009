// Starts and ends of a run by the service itself, beside numbered reports from outside (`execution-update`).
import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { endRun, reportProgress, startRun, type RunOutcome } from '../../../db/runs/run-life.js';
import { connect, openRun, type OpenRun } from '../open-run.js';

describe('a run of the service that somebody reports from outside, too', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const sequenceOf = async ({ id }: OpenRun): Promise<number> =>
    (await db.selectFrom('runs').select('sequence').where('id', '=', id).executeTakeFirstOrThrow()).sequence;

  for (const outcome of [
    { status: 'succeed' },
    { status: 'failed', error: { code: 'failed', message: 'It failed.' } },
  ] as const satisfies RunOutcome[]) {
    it(`ends as the service says (${outcome.status}), whatever number the last report had`, async () => {
      const run = await openRun(db, ['http']);
      assert.equal((await reportProgress(db, run.id, 2_147_483_647)).applied, true);
      const stored = outcome.status === 'succeed' ? 'Succeeded' : 'Error';
      assert.deepEqual(await endRun(db, run.id, outcome), { applied: true, runStatus: stored });
      assert.equal(await sequenceOf(run), 2_147_483_647);
      assert.deepEqual(await endRun(db, run.id, outcome), {
        applied: false,
        runStatus: stored,
        reason: 'already_terminal',
      });
    });
  }

  it('counts the end as report 2 for what comes from outside later', async () => {
    const run = await openRun(db, ['http']);
    await endRun(db, run.id, { status: 'succeed' });
    assert.equal(await sequenceOf(run), 2);
    assert.equal((await endRun(db, run.id, { status: 'failed' }, 2)).reason, 'stale');
    assert.equal((await endRun(db, run.id, { status: 'failed' }, 3)).reason, 'already_terminal');
  });

  it('has the result of its trigger, also when a report has started it before the first worker', async () => {
    const run = await openRun(db, ['trigger']);
    await db.updateTable('runs').set({ run_started_at: null, sequence: 0 }).where('id', '=', run.id).execute();
    await reportProgress(db, run.id, 1);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    const ids = { projectId: run.projectId, userId: run.userId };
    const trigger = { ...key, ...ids, label: 'a trigger', result: '{"content":"{}"}', resultEnc: null };
    assert.deepEqual([await startRun(db, run.id, { trigger }), await startRun(db, run.id, { trigger })], [true, false]);
    const rows = await db
      .selectFrom('node_results')
      .select(['node_id', 'status'])
      .where('run_id', '=', run.id)
      .execute();
    assert.deepEqual(rows, [{ node_id: key.nodeId, status: 'succeed' }]);
    await endRun(db, run.id, { status: 'succeed' });
    assert.equal(await startRun(db, run.id, { trigger }), false);
  });
});
