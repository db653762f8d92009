import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/core/client.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { listPins, storePin } from '../../../db/test-runs/pins-repository.js';
import { findFixedResult, insertTestRun } from '../../../db/test-runs/test-runs-repository.js';
import { parseJson, writeJson } from '../../../graph/json-text.js';
import { connect, openRun } from '../open-run.js';

describe('results that tests are given', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('keep every digit of their numbers, pinned and taken', async () => {
    const box = createSecretBox([randomBytes(32)]);
    const run = await openRun(db, ['http']);
    const [nodeId] = run.nodeIds as [string];
    const { workflow_id: workflowId } = await db
      .selectFrom('runs')
      .select('workflow_id')
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow();
    const result = '{"content":"x","json":{"id":9007199254740993,"price":0.12345678901234567890}}';
    const outcome = { output: parseJson(result) as { content: string }, handles: [] };
    const pin = { workflowId, nodeId, path: '', outcome, shown: outcome, fingerprint: null, sourceRun: null };
    await db.transaction().execute((transaction) => storePin(transaction, box, { ...pin, userId: run.userId }));
    const [stored] = await listPins(db, box, workflowId);
    assert.equal(writeJson(stored!.outcome), writeJson(outcome));
    assert.equal(writeJson(stored!.shown), writeJson(outcome));

    const given = { path: '', nodeId, source: 'pin' as const, isStale: false, outcome };
    const facts = { mode: 'node', node_id: nodeId, skips_waits: false, max_cost_usd: null } as const;
    await db
      .transaction()
      .execute((transaction) => insertTestRun(transaction, box, { runId: run.id, facts, given: [given] }));
    const found = await findFixedResult(db, box, { runId: run.id, path: '', nodeId });
    assert.equal(writeJson(found!.outcome), writeJson(outcome));
  });
});
