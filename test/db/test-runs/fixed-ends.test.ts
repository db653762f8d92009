import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { findNodeClaim } from '../../../db/nodes/node-results-repository.js';
import { addPoolNodes } from '../../../db/pools/pool-nodes-repository.js';
import { findFixedNodes, recordFixedEnd, type FixedEnd } from '../../../db/test-runs/test-runs-repository.js';
import { connect, openRun } from '../open-run.js';

describe('a node with a fixed result that is due in a pool', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('ends with that result, once', async () => {
    const run = await openRun(db, ['http']);
    const key = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await addPoolNodes(db, key, run.nodeIds, { pool: 'gpu', buildId: null });
    const given = { isOutput: false, source: 'mock', isStale: false, alsoHandles: null, resultEnc: null } as const;
    const succeeded = { status: 'succeed', errorCode: null, errorMessage: null, isHandled: false } as const;
    const end: FixedEnd = { ...key, ...given, ...succeeded, handle: 2, result: '{"content":"given"}' };
    assert.equal(await recordFixedEnd(db, end), true);
    assert.equal(await recordFixedEnd(db, { ...end, handle: 1 }), false);
    const { status, handle } = (await findNodeClaim(db, key))!;
    assert.deepEqual([status, handle], ['succeed', 2]);
    assert.deepEqual(await findFixedNodes(db, run.id), run.nodeIds);
  });
});
