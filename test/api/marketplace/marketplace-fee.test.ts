import assert from 'node:assert/strict';
import { Decimal } from 'decimal.js';
import { createDatabase } from '../../../db/core/client.js';
import { endRun } from '../../../db/runs/run-life.js';
import { chain, drawing, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount, giveRole, type Account } from '../accounts.js';
import type { Project, Workflow } from '../bodies.js';
import { copy, publish } from '../marketplace-setup.js';

const FEE = '0.123456789012345678';

const terms = (freeRuns: number, fee = FEE) => ({ run_fee: fee, free_runs_per_user: freeRuns });

const run = async ({ api }: Account, id: number): Promise<string> => {
  const runId = (await api.run(id)).data.id;
  await api.pollToEnd(runId);
  return runId;
};

describe('marketplace fee', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let author: Account;

  before(async () => {
    stack = await sharedStack();
    author = await createAccount(stack);
  });

  /** Creates a buyer with a copy. */
  const buy = async (slug: string): Promise<{ buyer: Account; id: number }> => {
    const buyer = await createAccount(stack);
    return { buyer, id: await copy(buyer, slug) };
  };
  const feesOf = async (runIds: string[]): Promise<string[]> => {
    const rows = await Promise.all(runIds.map((id) => transactionsOf(stack, id)));
    return rows.flatMap((all) => all.filter((row) => row.operation === 'marketplace_fee').map((row) => row.amount_usd));
  };

  /**
   * Asserts to the last digit that the cost of each run is the sum of its transactions, and that the total cost of the
   * workflow and the total spent of the project are the sum of all runs.
   */
  const assertSumsAgree = async ({ api }: Account, id: number, runIds: string[]): Promise<void> => {
    const rows = await Promise.all(runIds.map((runId) => transactionsOf(stack, runId)));
    const costs = rows.map((all) => all.reduce((sum, row) => sum.plus(row.amount_usd), new Decimal(0)));
    for (const [index, runId] of runIds.entries()) {
      assert.equal((await api.history(id, runId)).cost['USD'], costs[index]!.toFixed());
    }
    const total = costs.reduce((sum, cost) => sum.plus(cost), new Decimal(0)).toFixed();
    const workflow = (await api.get<Workflow>(`/all-workflows/${id}/`)).body;
    assert.equal((workflow['total_cost'] as Record<string, string>)['USD'], total);
    const project = (await api.get<Project>(`/projects/${workflow.project}/`)).body;
    assert.equal(project.total_spent['USD'], total);
  };

  it('a succeeded run beyond the free ones adds one transaction marketplace_fee of the run fee', async () => {
    const [start, model] = [trigger(), llm('hello')];
    link(start, model);
    const { slug } = await publish(stack, author, terms(2), drawing([start, model]));
    const { buyer, id } = await buy(slug);
    const runIds = [];
    for (let count = 0; count < 4; count += 1) runIds.push(await run(buyer, id));
    assert.deepEqual(await feesOf(runIds.slice(0, 2)), []);
    const [fee, ...others] = (await transactionsOf(stack, runIds[2]!)).filter(({ node_id: node }) => node === '');
    assert.deepEqual(
      [fee, others],
      [
        {
          path: '',
          node_id: '',
          operation: 'marketplace_fee',
          status: 'Succeeded',
          amount_usd: FEE,
          is_estimated: false,
        },
        [],
      ],
    );
    assert.deepEqual(await feesOf(runIds), [FEE, FEE]);
    await assertSumsAgree(buyer, id, runIds);
  });

  it('of twelve runs that end at once exactly those beyond the free ones pay, and the sums agree', async () => {
    const { slug } = await publish(stack, author, terms(5));
    const { buyer, id } = await buy(slug);
    const runIds = await Promise.all(Array.from({ length: 12 }, () => run(buyer, id)));
    assert.deepEqual(
      await feesOf(runIds),
      Array.from({ length: 7 }, () => FEE),
    );
    await assertSumsAgree(buyer, id, runIds);
  });

  it('the fee is there when the run is seen to have succeeded', async () => {
    const { slug } = await publish(stack, author, terms(0, '1'));
    const { buyer, id } = await buy(slug);
    const runId = await run(buyer, id);
    assert.equal((await buyer.api.history(id, runId)).cost['USD'], '1');
  });

  it('a run that fails, is cancelled or refused costs no fee and no free run', async () => {
    const target = await startHttpTarget();
    try {
      const start = trigger([{ id: 'path', input_requirements: true }]);
      const call = http(`${target.url}/{{ input.path }}`);
      link(start, call);
      const { slug } = await publish(stack, author, terms(1), drawing([start, call]), { path: 'ok' });
      const { buyer, id } = await buy(slug);
      const runWith = async (input: unknown, isCancelled = false): Promise<string> => {
        const runId = (await buyer.api.run(id, input)).data.id;
        if (isCancelled) await buyer.api.post(`/workflows/${id}/history/${runId}/cancel/`);
        await buyer.api.pollToEnd(runId);
        return runId;
      };
      const ended = [
        await runWith({ path: 'status/404' }),
        await runWith({}),
        await runWith({ path: 'delay/5000' }, true),
      ];
      assert.deepEqual(await feesOf(ended), []);
      const free = await runWith({ path: 'ok' });
      assert.deepEqual(await feesOf([free]), []);
      assert.deepEqual(await feesOf([await runWith({ path: 'ok' })]), [FEE]);
    } finally {
      await target.close();
    }
  });

  it('runs of the original, and of a copy without a fee, cost none', async () => {
    const paid = await publish(stack, author, terms(0));
    assert.deepEqual(await feesOf([paid.runId, await run(author, paid.workflowId)]), []);
    const { slug } = await publish(stack, author, terms(0, '0'));
    const { buyer, id } = await buy(slug);
    assert.deepEqual(await feesOf([await run(buyer, id)]), []);
  });

  it('the terms are those of the moment of copying; the copier cannot change them', async () => {
    const { workflowId, slug } = await publish(stack, author, terms(1));
    const early = await buy(slug);
    await author.api.patch(`/workflows/${workflowId}/`, { body: terms(0, '5') });
    const late = await buy(slug);
    await early.buyer.api.patch(`/workflows/${early.id}/`, { body: terms(1000, '0') });
    const runIds = [await run(early.buyer, early.id), await run(early.buyer, early.id)];
    assert.deepEqual(await feesOf(runIds), [FEE]);
    assert.deepEqual(await feesOf([await run(late.buyer, late.id)]), ['5']);
  });

  it('free runs are per user: a second copy brings none, another member has their own', async () => {
    const { slug } = await publish(stack, author, terms(1));
    const { buyer, id } = await buy(slug);
    const first = await run(buyer, id);
    const member = await createAccount(stack);
    const { project } = (await buyer.api.get<Workflow>(`/workflows/${id}/`)).body;
    await giveRole(stack, member, project, 'editor');
    assert.deepEqual(await feesOf([first, await run(member, id)]), []);
    await buyer.api.delete(`/workflows/${id}/`);
    const next = await copy(buyer, slug);
    assert.deepEqual(await feesOf([await run(buyer, next)]), [FEE]);
  });

  it('an end that is reported many times at once is charged once; one that dies before its commit not at all', async () => {
    const { slug } = await publish(stack, author, terms(0));
    const { buyer, id } = await buy(slug);
    const ended = await run(buyer, id);
    const { rows } = await openRunLike(ended);
    const runId = rows[0]!.id;
    const options = { poolMax: 10, applicationName: 'test', onError: () => undefined };
    const db = createDatabase({ url: stack.stack.database_url, ...options });
    try {
      const succeed = { status: 'succeed' as const };
      const died = db.transaction().execute(async (transaction) => {
        assert.ok((await endRun(transaction, runId, succeed)).applied);
        throw new Error('the process dies');
      });
      await assert.rejects(died, /the process dies/);
      assert.deepEqual(await feesOf([runId]), []);
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => endRun(db, runId, succeed)));
      assert.equal(outcomes.filter(({ applied }) => applied).length, 1);
      assert.deepEqual(await feesOf([runId]), [FEE]);
    } finally {
      await db.destroy();
    }
    const [usage] = await queryDatabase<{ succeeded_runs: number }>(
      stack,
      'SELECT succeeded_runs FROM marketplace_usage WHERE user_id = $1',
      [buyer.userId],
    );
    assert.equal(usage?.succeeded_runs, 2);
    await assertSumsAgree(buyer, id, [ended, runId]);
  });

  /** Creates the row of a run in progress that no worker executes, so that the test decides when and how it ends. */
  async function openRunLike(runId: string): Promise<{ rows: { id: string }[] }> {
    const rows = await queryDatabase<{ id: string }>(
      stack,
      `INSERT INTO runs (id, workflow_id, project_id, user_id, status, snapshot_hash, input, run_started_at, sequence)
      SELECT gen_random_uuid(), workflow_id, project_id, user_id, 'In Progress', snapshot_hash, input, now(), 1
      FROM runs WHERE id = $1 RETURNING id`,
      [runId],
    );
    return { rows };
  }

  it('a copy whose drawing was replaced pays the fee as well', async () => {
    const { slug } = await publish(stack, author, terms(0));
    const { buyer, id } = await buy(slug);
    await buyer.api.patch(`/workflows/${id}/`, { body: { data: chain(2) } });
    assert.deepEqual(await feesOf([await run(buyer, id)]), [FEE]);
  });
});
