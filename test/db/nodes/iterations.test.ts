import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import {
  startIterations,
  findIteration,
  recordIteration,
  recordIterationFailure,
} from '../../../db/nodes/iterations-repository.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { connect, openRun } from '../open-run.js';

describe('the end of an iteration', () => {
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('stays a failure when an attempt whose answer was lost is repeated, and the repetition learns of it', async () => {
    const run = await openRun(db, ['for_each']);
    const loop = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, loop);
    await startIterations(db, loop, { total: 2, indexes: [0, 1] });
    const failure = { code: 'quota_exceeded', message: 'It does not fit.' };
    await recordIterationFailure(db, loop, { index: 0, failure });
    const ended = { result: '{"content":""}', resultEnc: null, next: undefined };
    assert.equal(await recordIteration(db, { loop: loop, index: 0, ...ended }), 'quota_exceeded');
    assert.equal((await findIteration(db, loop, 0))?.status, 'failed');
    assert.equal(await recordIteration(db, { loop: loop, index: 1, ...ended }), undefined);
    assert.equal(await recordIteration(db, { loop: loop, index: 1, ...ended }), undefined);
    assert.equal((await findIteration(db, loop, 1))?.status, 'succeed');
  });
});
