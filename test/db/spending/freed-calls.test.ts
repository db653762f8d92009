import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { saveTurn } from '../../../db/agents/agent-repository.js';
import { beginIterations, closeIterations, recordIterationFailure } from '../../../db/nodes/iterations-repository.js';
import { claimNode, recordCaughtFailure } from '../../../db/nodes/node-results-repository.js';
import { claimPaidCall } from '../../../db/spending/reserve-call.js';
import { readReserved } from '../../../db/spending/spending-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import type { NodeKey } from '../../../graph/plan.js';
import { connect, openRun, type OpenRun } from '../open-run.js';

describe('what a call on the wire has reserved', function () {
  this.timeout(60_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const reserved = async ({ projectId }: OpenRun): Promise<string> => (await readReserved(db, projectId)).usd;
  async function call({ projectId }: OpenRun, key: NodeKey, turn = 0): Promise<void> {
    await claimNode(db, key);
    const paid = { projectId, reservedUsd: '0.1', maxCostUsd: null };
    await claimPaidCall(db, { ...key, turn, provider: 'p', model: 'm', repeatsAfterCrash: 1, ...paid });
  }

  it('is free once its node is closed for it, and what an agent has paid stays', async () => {
    const run = await openRun(db, ['agent', 'llm']);
    const [agent, other] = run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId })) as [NodeKey, NodeKey];
    await call(run, agent);
    const said = { isFinal: false, messageEnc: Buffer.from('sealed'), usage: null, priceUsd: '0.06', toolCalls: [] };
    await saveTurn(db, { ...agent, nodeLabel: 'an agent', turn: 0, ...said });
    await call(run, agent, 1);
    await call(run, other);
    assert.equal(await reserved(run), '0.26');
    for (let repeat = 0; repeat < 2; repeat++) await recordCaughtFailure(db, agent, 'timeout');
    assert.equal(await reserved(run), '0.16');
    await recordCaughtFailure(db, other, 'timeout');
    assert.equal(await reserved(run), '0.06');
  });

  it('is free once its iteration, or the loop around it, has failed', async () => {
    const run = await openRun(db, ['for_each', 'llm']);
    const [loop, body] = run.nodeIds as [string, string];
    const key = { runId: run.id, path: '', nodeId: loop };
    await claimNode(db, key);
    await beginIterations(db, key, { total: 3, indexes: [0, 1, 2] });
    for (const index of [0, 1, 2]) {
      await call(run, { runId: run.id, path: iterationPath('', loop, index), nodeId: body });
    }
    assert.equal(await reserved(run), '0.3');
    await recordIterationFailure(db, key, { index: 1, failure: { code: 'http_error', message: 'Failed.' } });
    assert.equal(await reserved(run), '0.2');
    await closeIterations(db, key);
    assert.equal(await reserved(run), '0');
  });
});
