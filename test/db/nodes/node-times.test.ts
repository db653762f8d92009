import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the time that a node takes', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  async function durationMs({ id }: OpenRun, nodeId: string): Promise<number> {
    const { started_at: start, finished_at: end } = await db
      .selectFrom('node_results')
      .select(['started_at', 'finished_at'])
      .where('run_id', '=', id)
      .where('node_id', '=', nodeId)
      .executeTakeFirstOrThrow();
    return end!.getTime() - start.getTime();
  }

  it('begins with the attempt, also where the attempt was marked later than it began', async () => {
    const run = await openRun(db, ['http']);
    const nodeId = run.nodeIds[0]!;
    await claimNode(db, { runId: run.id, path: '', nodeId });
    await recordNodeEnd(db, nodeEnd(run, nodeId, 'http', { tookMs: 5_000 }));
    const took = await durationMs(run, nodeId);
    assert.ok(took >= 4_990 && took < 6_000, `${took} ms`);
  });

  it('begins with the first attempt, whatever the last one took', async () => {
    const run = await openRun(db, ['http']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, key);
    await pause(300);
    assert.equal((await claimNode(db, key))!.attempts, 2);
    await recordNodeEnd(db, nodeEnd(run, key.nodeId, 'http', { tookMs: 1 }));
    const took = await durationMs(run, key.nodeId);
    assert.ok(took >= 290, `${took} ms`);
  });

  it('is never negative, however the run ends', async () => {
    const run = await openRun(db, ['http', 'http']);
    const [begun, unknown] = run.nodeIds as [string, string];
    await db.transaction().execute(async (trx) => {
      // This read starts the transaction of the end before the node starts.
      await trx.selectFrom('runs').select('id').where('id', '=', run.id).execute();
      await pause(50);
      await claimNode(db, { runId: run.id, path: '', nodeId: begun });
      const error = { code: 'timeout', message: 'It took too long.' };
      await endRun(trx, run.id, { status: 'failed', error, failedNodes: { [unknown]: error } });
    });
    for (const nodeId of run.nodeIds) {
      const took = await durationMs(run, nodeId);
      assert.ok(took >= 0, `${took} ms`);
    }
  });
});
