import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import {
  startIterations,
  findIteration,
  recordIteration,
  recordIterationFailure,
  measureIterations,
  storeItems,
} from '../../../db/nodes/iterations-repository.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { connect, openRun } from '../open-run.js';

describe('the items of a loop', () => {
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('are stored completely or not at all, so that the next attempt of a test run takes no part for the list', async () => {
    const run = await openRun(db, ['for_each']);
    const loop = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    const stored = async () =>
      (await db.selectFrom('loop_items').select('index').where('run_id', '=', run.id).execute()).length;
    const items = Array.from({ length: 1_001 }, (_, index) => Buffer.from(`sealed ${index}`));
    const broken = [...items.slice(0, -1), null as unknown as Buffer];
    await assert.rejects(storeItems(db, loop, broken), { code: '23502' });
    assert.equal(await stored(), 0);
    assert.equal(await storeItems(db, loop, items), true);
    assert.equal(await storeItems(db, loop, items), false);
    assert.equal(await stored(), 1_001);
  });
});

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

  it('counts for the size of its loop with its output or its error message', async () => {
    const run = await openRun(db, ['for_each']);
    const loop = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, loop);
    await startIterations(db, loop, { total: 3, indexes: [0, 1, 2] });
    const [result, message] = ['{"content":"x"}', 'It said nö.'];
    await recordIteration(db, { loop, index: 0, result, resultEnc: null, next: undefined });
    await recordIterationFailure(db, loop, { index: 1, failure: { code: 'http_status', message } });
    assert.equal(await measureIterations(db, loop), result.length + Buffer.byteLength(message));
  });
});
