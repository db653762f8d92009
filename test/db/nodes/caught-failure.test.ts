import assert from 'node:assert/strict';
import { saveTurn } from '../../../db/agents/agent-repository.js';
import { listRequestsOfRun } from '../../../db/agents/approval-requests-repository.js';
import type { Database } from '../../../db/core/client.js';
import { claimNode, findNodeErrors, closeNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { askedApproval, connect, nodeEnd, openRun, paidCall } from '../open-run.js';

describe('a failure that the run survives and no activity has recorded', () => {
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  async function endOf(runId: string, nodeId: string) {
    return db
      .selectFrom('node_results')
      .select(['status', 'error_code', 'is_handled', 'finished_at'])
      .where('run_id', '=', runId)
      .where('node_id', '=', nodeId)
      .executeTakeFirst();
  }

  it('closes the node, once, whether it had begun or not', async () => {
    const run = await openRun(db, ['http', 'http']);
    const [begun, queued] = run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId }));
    await claimNode(db, begun!);
    for (const key of [begun!, queued!, begun!]) await closeNode(db, key, { code: 'timeout', isHandled: true });
    for (const { nodeId } of [begun!, queued!]) {
      const { finished_at: finishedAt, ...end } = (await endOf(run.id, nodeId))!;
      assert.deepEqual(end, { status: 'failed', error_code: 'timeout', is_handled: true });
      assert.ok(finishedAt);
    }
    const errors = await findNodeErrors(db, begun!, run.nodeIds);
    assert.deepEqual(
      errors.map(({ code, message }) => [code, message]),
      [0, 1].map(() => ['timeout', 'The node failed: timeout.']),
    );
  });

  it('leaves a node that has ended as it is, and a run that has ended without it', async () => {
    const run = await openRun(db, ['http', 'http']);
    const [done, late] = run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId }));
    await recordNodeEnd(db, nodeEnd(run, done!.nodeId, 'http'));
    await closeNode(db, done!, { code: 'timeout', isHandled: true });
    assert.equal((await endOf(run.id, done!.nodeId))!.status, 'succeed');
    await endRun(db, run.id, { status: 'cancelled' });
    await closeNode(db, late!, { code: 'timeout', isHandled: true });
    assert.equal(await endOf(run.id, late!.nodeId), undefined);
  });

  it('closes the approvals and the child runs that the node waits for', async () => {
    const [run, child] = await Promise.all([openRun(db, ['agent']), openRun(db, ['http'])]);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, key);
    const sealed = Buffer.from('sealed');
    const call = { toolCallId: 'c', serverLabel: 's', toolName: 't', argumentsEnc: sealed, invalidEnc: null };
    const toolCalls = [{ ...call, approval: askedApproval() }];
    await saveTurn(db, { ...key, ...paidCall('0'), nodeLabel: 'a', isFinal: false, messageEnc: sealed, toolCalls });
    const wait = { run_id: run.id, path: '', node_id: key.nodeId, call: 1, kind: 'child', until: new Date() } as const;
    await db
      .insertInto('waits')
      .values({ ...wait, child_run_id: child.id })
      .execute();
    await closeNode(db, key, { code: 'timeout', isHandled: true });
    assert.deepEqual(
      (await listRequestsOfRun(db, run.id)).map(({ status }) => status),
      ['expired'],
    );
    const asked = db.selectFrom('runs').select('cancel_requested_at').where('id', '=', child.id);
    assert.ok((await asked.executeTakeFirst())?.cancel_requested_at);
  });
});
