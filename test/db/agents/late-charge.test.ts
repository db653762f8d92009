import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { saveTurn } from '../../../db/agents/agent-repository.js';
import { recordPaidEnd, savePaidCall } from '../../../db/agents/agent-charges.js';
import { listRequestsOfRun } from '../../../db/agents/approval-requests-repository.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { claimCall } from '../../../db/nodes/provider-calls-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { askedApproval, connect, nodeEnd, openRun, paidCall, untilWaiting, type OpenRun } from '../open-run.js';

const CANCELLED = { status: 'cancelled' as const, error: { code: 'cancelled', message: 'Cancelled.' } };

describe('what an agent costs', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const keyOf = (run: OpenRun) => ({ runId: run.id, path: '', nodeId: run.nodeIds[0]! });

  async function askModel(run: OpenRun, turn: number): Promise<void> {
    const call = { ...keyOf(run), turn, provider: 'p', model: 'm', mayRepeat: true };
    assert.equal((await claimCall(db, call)).isAllowed, true);
  }

  function answer(run: OpenRun, turn: number, priceUsd: string): Promise<void> {
    const messageEnc = Buffer.from('sealed');
    const said = { isFinal: turn > 0, messageEnc, toolCalls: [] };
    return saveTurn(db, { ...keyOf(run), nodeLabel: 'an agent', ...paidCall(priceUsd, { turn }), ...said });
  }

  /** Opens a run in which one turn is paid for, and the second model call is in flight. */
  async function withSecondCall(): Promise<OpenRun> {
    const run = await openRun(db, ['agent']);
    await claimNode(db, keyOf(run));
    await askModel(run, 0);
    await answer(run, 0, '0.001');
    await askModel(run, 1);
    return run;
  }

  async function amountsOf(run: OpenRun): Promise<Record<string, number>> {
    const row = await db
      .selectFrom('billing_transactions as paid')
      .innerJoin('runs', 'runs.id', 'paid.run_id')
      .innerJoin('projects', 'projects.id', 'runs.project_id')
      .select(['amount_usd', 'cost_usd', 'total_spent_usd'])
      .where('runs.id', '=', run.id)
      .executeTakeFirstOrThrow();
    return { node: Number(row.amount_usd), run: Number(row.cost_usd), project: Number(row.total_spent_usd) };
  }

  const all = (usd: number): Record<string, number> => ({ node: usd, run: usd, project: usd });

  it('grows by an answer that comes after the run was cancelled, once', async () => {
    const run = await withSecondCall();
    await endRun(db, run.id, CANCELLED);
    assert.deepEqual(await amountsOf(run), all(0.001));
    await answer(run, 1, '0.002');
    assert.deepEqual(await amountsOf(run), all(0.003), 'a worker that dies here has lost nothing');
    for (let repeat = 0; repeat < 2; repeat++) {
      await answer(run, 1, '0.002');
      await recordPaidEnd(db, nodeEnd(run, run.nodeIds[0]!, 'agent', { priceVersion: 'v' }));
      assert.deepEqual(await amountsOf(run), all(0.003));
    }
  });

  it('grows by an answer that cannot be used and comes after the run was cancelled, once', async () => {
    const run = await withSecondCall();
    await endRun(db, run.id, CANCELLED);
    for (let repeat = 0; repeat < 2; repeat++) {
      await savePaidCall(db, { ...keyOf(run), turn: 1, attempt: 1 }, paidCall('0.002'));
      assert.deepEqual(await amountsOf(run), all(0.003));
    }
  });

  it('is what the ledger says when the node ends, with the price list that it was reckoned by', async () => {
    const run = await withSecondCall();
    await answer(run, 1, '0.002');
    const end = nodeEnd(run, run.nodeIds[0]!, 'agent', { amountUsd: '0.001', priceVersion: 'v' });
    assert.deepEqual([await recordPaidEnd(db, end), await recordPaidEnd(db, end)], [true, false]);
    assert.deepEqual(await amountsOf(run), all(0.003));
    const versions = await db
      .selectFrom('billing_transactions')
      .select('price_version')
      .where('run_id', '=', run.id)
      .execute();
    assert.deepEqual(versions, [{ price_version: 'v' }]);
  });

  it('a turn that comes after the run was cancelled asks nobody for approval', async () => {
    const run = await withSecondCall();
    await endRun(db, run.id, CANCELLED);
    const [messageEnc, argumentsEnc] = [Buffer.from('sealed'), Buffer.from('sealed')];
    const approval = askedApproval();
    const call = { toolCallId: '1', serverLabel: 's', toolName: 't', argumentsEnc, invalidEnc: null, approval };
    const turn = { ...keyOf(run), ...paidCall('0.002', { turn: 1 }), isFinal: false, messageEnc };
    await saveTurn(db, { ...turn, nodeLabel: 'an agent', toolCalls: [call] });
    const requests = await listRequestsOfRun(db, run.id);
    assert.deepEqual(
      requests.map(({ status }) => status),
      ['expired'],
    );
    assert.deepEqual(await amountsOf(run), all(0.003));
  });

  it('counts an answer that is recorded while the run is being ended', async () => {
    const run = await withSecondCall();
    const late = await db.transaction().execute(async (trx) => {
      await endRun(trx, run.id, CANCELLED);
      const answered = answer(run, 1, '0.002');
      await Promise.race([answered, untilWaiting('"isOpen"')]);
      return { answered };
    });
    await late.answered;
    assert.deepEqual(await amountsOf(run), all(0.003));
  });

  it('is recorded with the end of the node beside a statement that closes the node, and neither waits in a circle', async () => {
    const run = await withSecondCall();
    const { nodeId } = keyOf(run);
    const end = await db.transaction().execute(async (trx) => {
      // As `closeNode` does, this locks the node, then its calls.
      await sql`SELECT FROM node_results WHERE run_id = ${run.id} AND node_id = ${nodeId} FOR NO KEY UPDATE`.execute(
        trx,
      );
      const priced = nodeEnd(run, nodeId, 'agent', { priceVersion: 'v' });
      const recorded = recordPaidEnd(db, priced, paidCall('0.002', { turn: 1 }));
      await untilWaiting('node_results');
      await sql`SELECT FROM provider_calls WHERE run_id = ${run.id} FOR UPDATE`.execute(trx);
      return { recorded };
    });
    assert.equal(await end.recorded, true);
    assert.deepEqual(await amountsOf(run), all(0.003));
  });
});
