import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { claimNode, closeNode } from '../../../db/nodes/node-results-repository.js';
import { claimChild, findChild, NODE_ITSELF } from '../../../db/runs/child-runs-repository.js';
import { connect, openRun } from '../open-run.js';

describe('a child run', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is not started by a node that has ended, because nobody would wait for it', async () => {
    const [run, child] = [await openRun(db, ['workflow', 'workflow']), await openRun(db, ['http'])];
    const [open, failed] = run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId }));
    for (const node of [open!, failed!]) await claimNode(db, node);
    await closeNode(db, failed!, { code: 'timeout', isHandled: false });
    const wait = { call: NODE_ITSELF, childId: child.id, untilMs: null };
    assert.equal(await claimChild(db, failed!, wait), false);
    assert.equal(await findChild(db, failed!, NODE_ITSELF), undefined);
    assert.equal(await claimChild(db, open!, wait), true);
    assert.equal((await findChild(db, open!, NODE_ITSELF))?.runId, child.id);
  });
});
