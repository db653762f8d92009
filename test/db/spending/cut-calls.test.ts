import assert from 'node:assert/strict';
import type { Database } from '../../../db/core/client.js';
import { saveTurn } from '../../../db/agents/agent-repository.js';
import { startIterations, closeIterations, recordIterationFailure } from '../../../db/nodes/iterations-repository.js';
import { claimNode, closeNode } from '../../../db/nodes/node-results-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { claimPaidCall } from '../../../db/spending/reserve-call.js';
import { readReserved } from '../../../db/spending/spending-repository.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import type { NodeKey } from '../../../graph/plan.js';
import { connect, openRun, paidCall, type OpenRun } from '../open-run.js';

const FAILED = { status: 'failed' as const, error: { code: 'failed', message: 'It failed.' } };

describe('a call on the wire whose node is closed for it', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const reserved = async ({ projectId }: OpenRun): Promise<string> => (await readReserved(db, projectId)).usd;
  /** The number of transactions with each amount. */
  async function paidBy({ id }: OpenRun): Promise<Record<string, number>> {
    const rows = await db.selectFrom('billing_transactions').select('amount_usd').where('run_id', '=', id).execute();
    const counts: Record<string, number> = {};
    for (const { amount_usd: usd } of rows) counts[usd] = (counts[usd] ?? 0) + 1;
    return counts;
  }
  async function call({ projectId }: OpenRun, key: NodeKey, turn = 0): Promise<void> {
    await claimNode(db, key);
    const tokens = { input: 1, output: 2 };
    const paid = { projectId, reservedUsd: '0.1', reservedTokens: tokens, maxCostUsd: null };
    await claimPaidCall(db, { ...key, turn, provider: 'p', model: 'm', mayRepeat: true, ...paid });
  }

  it('is charged as estimated, once, beside what an agent has paid', async () => {
    const run = await openRun(db, ['agent', 'llm']);
    const [agent, other] = run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId })) as [NodeKey, NodeKey];
    await call(run, agent);
    const said = { isFinal: false, messageEnc: Buffer.from('sealed'), toolCalls: [] };
    await saveTurn(db, { ...agent, nodeLabel: 'an agent', ...paidCall('0.06'), ...said });
    await call(run, agent, 1);
    await call(run, other);
    assert.equal(await reserved(run), '0.26');
    for (let repeat = 0; repeat < 2; repeat++) await closeNode(db, agent, { code: 'timeout', isHandled: true });
    await closeNode(db, other, { code: 'timeout', isHandled: true });
    assert.equal(await reserved(run), '0.26', 'limits count it until the end of the run has written the transactions');
    await endRun(db, run.id, FAILED);
    assert.deepEqual(await paidBy(run), { '0.1': 1, '0.16': 1 });
    assert.equal(await reserved(run), '0');
  });

  it('is charged where its iteration, or the loop around it, has failed', async () => {
    const run = await openRun(db, ['for_each', 'llm']);
    const [loop, body] = run.nodeIds as [string, string];
    const key = { runId: run.id, path: '', nodeId: loop };
    await claimNode(db, key);
    await startIterations(db, key, { total: 3, indexes: [0, 1, 2] });
    for (const index of [0, 1, 2]) {
      await call(run, { runId: run.id, path: iterationPath('', loop, index), nodeId: body });
    }
    assert.equal(await reserved(run), '0.3');
    await recordIterationFailure(db, key, { index: 1, failure: { code: 'http_error', message: 'Failed.' } });
    await closeIterations(db, key);
    assert.equal(await reserved(run), '0.3');
    const onWire = db
      .selectFrom('provider_calls')
      .select('turn')
      .where('run_id', '=', run.id)
      .where('state', '=', 'sent');
    assert.deepEqual(await onWire.execute(), []);
    await endRun(db, run.id, FAILED);
    assert.deepEqual(await paidBy(run), { '0': 1, '0.1': 3 });
  });
});
