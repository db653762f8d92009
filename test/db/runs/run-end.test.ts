import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { connect, nodeEnd, openRun, untilWaiting, type OpenRun } from '../open-run.js';
import { recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { recordIteration, startIterations } from '../../../db/nodes/iterations-repository.js';

const FAILED = { status: 'failed' as const, error: { code: 'failed', message: 'It failed.' } };

describe('no node is in progress in a run that has ended', function () {
  this.timeout(120_000);
  let ending: Database;
  let working: Database;

  before(async () => {
    [ending, working] = await Promise.all([connect(), connect()]);
  });
  after(() => Promise.all([ending.destroy(), working.destroy()]));

  async function statesOf({ id }: OpenRun): Promise<unknown> {
    const rows = await ending
      .selectFrom('node_results as node')
      .innerJoin('runs as run', 'run.id', 'node.run_id')
      .leftJoin('billing_transactions as paid', (join) =>
        join.onRef('paid.run_id', '=', 'run.id').onRef('paid.node_id', '=', 'node.node_id'),
      )
      .select(['run.status as run', 'node.status as node', 'paid.status as paid'])
      .where('run.id', '=', id)
      .execute();
    return rows.map(({ run, node, paid }) => [run, node, paid]);
  }

  it('where the node is claimed between the closing of the nodes and the commit', async () => {
    const run = await openRun(ending, ['http']);
    const claim = await ending.transaction().execute(async (trx) => {
      assert.equal((await endRun(trx, run.id, FAILED)).applied, true);
      const claimed = claimNode(working, { runId: run.id, path: '', nodeId: run.nodeIds[0]! });
      await Promise.race([claimed, untilWaiting('INSERT INTO node_results AS node')]);
      return { claimed };
    });
    assert.equal(await claim.claimed, undefined);
    assert.deepEqual(await statesOf(run), []);
  });

  it('where the claim has begun and is committed only after the run has ended', async () => {
    const run = await openRun(ending, ['http']);
    const end = await working.transaction().execute(async (trx) => {
      assert.equal((await claimNode(trx, { runId: run.id, path: '', nodeId: run.nodeIds[0]! }))?.status, 'in progress');
      const ended = endRun(ending, run.id, FAILED);
      await Promise.race([ended, untilWaiting('marketplace_copies')]);
      return { ended };
    });
    assert.equal((await end.ended).applied, true);
    assert.deepEqual(await statesOf(run), [['Error', 'failed', 'Error']]);
  });

  it('where a node that has to be paid for ends at the same moment: neither waits for the other in a circle', async () => {
    const run = await openRun(ending, ['llm']);
    const nodeId = run.nodeIds[0]!;
    await claimNode(working, { runId: run.id, path: '', nodeId });
    const record = await ending.transaction().execute(async (trx) => {
      // The transaction of the end has locked only the run's row so far.
      await sql`SELECT FROM runs WHERE id = ${run.id} FOR UPDATE`.execute(trx);
      const recorded = recordNodeEnd(working, nodeEnd(run, nodeId, 'llm', { amountUsd: '0.002', priceVersion: '1' }));
      await untilWaiting('WITH open_run AS');
      assert.equal((await endRun(trx, run.id, FAILED)).applied, true);
      return { recorded };
    });
    assert.equal(await record.recorded, false);
    assert.deepEqual(await statesOf(run), [['Error', 'failed', 'Error']]);
    const { cost_usd: cost } = await ending
      .selectFrom('runs')
      .select('cost_usd')
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow();
    assert.equal(Number(cost), 0.002);
  });

  it('where more nodes have no transaction than a statement has parameters for', async () => {
    const run = await openRun(ending, ['http']);
    await sql`INSERT INTO node_results (run_id, path, node_id, status)
      SELECT ${run.id}, 'loop[' || index || ']', ${run.nodeIds[0]}, 'in progress'
      FROM generate_series(1, 7000) AS index`.execute(ending);
    assert.equal((await endRun(ending, run.id, FAILED)).applied, true);
    const paid = await ending.selectFrom('billing_transactions').select('path').where('run_id', '=', run.id).execute();
    assert.equal(new Set(paid.map(({ path }) => path)).size, 7_000);
  });
});

describe('the success of a run with a loop that leaves nothing open', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('is recorded in one statement, without a transaction', async () => {
    const run = await openRun(db, ['for_each']);
    const loop = { runId: run.id, path: '', nodeId: run.nodeIds[0]! };
    await claimNode(db, loop);
    await startIterations(db, loop, { total: 1, indexes: [0] });
    const ended = { result: '{"content":""}', resultEnc: null, next: undefined };
    assert.equal(await recordIteration(db, { loop, index: 0, ...ended }), undefined);
    assert.equal(await recordNodeEnd(db, nodeEnd(run, loop.nodeId, 'for_each')), true);
    db.transaction = () => {
      throw new Error('a transaction was begun');
    };
    assert.equal((await endRun(db, run.id, { status: 'succeed' })).runStatus, 'Succeeded');
  });
});
