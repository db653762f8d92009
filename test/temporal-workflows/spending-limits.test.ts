import assert from 'node:assert/strict';
import { Decimal } from 'decimal.js';
import { startApiProcess, type ApiProcess } from '../../harness/stack/api-process.js';
import type { Project } from '../api/bodies.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import type { ModelAnswer, ModelRequest } from '../../harness/target/fake-model-provider.js';
import { drawing, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { queryDatabase } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startWorkerProcess, type WorkerProcess } from '../../harness/stack/worker-process.js';

const RUNS = 200;
const CALLS = 50;
const MAX_TOKENS = 7;
const PATIENCE = { timeoutMs: 180_000, intervalMs: 250 };

/**
 * There are two API processes and two workers, one of which is killed; the calls cost exactly the amount reserved for
 * them.
 */
describe('limits of money over processes that die', function () {
  this.timeout(400_000);
  let stack: StartedStack;
  let api: ApiClient;
  let secondApi: ApiProcess;
  let secondWorker: WorkerProcess;

  before(async () => {
    stack = await startStack();
    secondApi = await startApiProcess(stack);
    secondWorker = await startWorkerProcess(stack);
    api = createApiClient(stack.apiUrl, stack.apiKey);
    await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 1000000');
  });
  after(async () => {
    await secondWorker?.stop();
    await secondApi?.stop();
    await stack?.stop();
  });

  const tokensOf = ({ counted }: ModelRequest): number => Math.ceil(counted.length / 3);
  const usageOf = (request: ModelRequest): ModelAnswer => {
    const prompt_tokens = tokensOf(request);
    return { usage: { prompt_tokens, completion_tokens: MAX_TOKENS, total_tokens: prompt_tokens + MAX_TOKENS } };
  };

  /** The price of a call at 1 USD a million input tokens and 2 USD a million output tokens. */
  async function priceOfCall(model: string): Promise<Decimal> {
    stack.modelProvider.script(model, usageOf);
    const ended = await api.runToEnd(drawingOf(model));
    assert.equal(ended.status, 'succeed');
    const [request] = stack.modelProvider.requestsFor(model);
    return new Decimal(tokensOf(request!)).plus(2 * MAX_TOKENS).div(1_000_000);
  }

  function drawingOf(model: string): object {
    return drawing(linkInRow([trigger(), llm('x', { settings: { model_name: model, max_tokens: MAX_TOKENS } })]));
  }

  async function limitedWorkflow(model: string, amount: Decimal): Promise<{ project: number; workflow: number }> {
    const project = await api.createProject();
    const body = { spending_limit: { amount: amount.toFixed(), period: 'total' } };
    assert.equal((await api.patch(`/projects/${project}/`, { body })).status, 200);
    return { project, workflow: await api.createWorkflow(project, drawingOf(model)) };
  }

  /** Starts the runs through both API processes. */
  async function startRuns(workflow: number, count: number): Promise<string[]> {
    const clients = [api, createApiClient(secondApi.apiUrl, stack.apiKey)];
    const runs: string[] = [];
    for (let from = 0; from < count; from += 20) {
      const some = Array.from({ length: Math.min(20, count - from) }, (_, index) => clients[index % 2]!.run(workflow));
      runs.push(...(await Promise.all(some)).map(({ data }) => data.id));
    }
    return runs;
  }

  async function endsOf(project: number, runs: string[]): Promise<Record<string, number>> {
    const open = `SELECT count(*)::int AS open FROM runs WHERE project_id = $1 AND status = 'In Progress'`;
    await eventually(
      async () => (await queryDatabase<{ open: number }>(stack, open, [project]))[0]!.open === 0,
      PATIENCE,
    );
    const rows = await queryDatabase<{ end: string; runs: number }>(
      stack,
      `SELECT coalesce(error_code, status) AS end, count(*)::int AS runs FROM runs WHERE id = ANY ($1) GROUP BY 1`,
      [runs],
    );
    return Object.fromEntries(rows.map(({ end, runs: count }) => [end, count]));
  }

  /** Asserts that all sums agree to the last digit, and that nothing is reserved any more. */
  async function assertSpent(project: number, amount: Decimal): Promise<void> {
    const [sums] = await queryDatabase<Record<'paid' | 'cost' | 'ledger' | 'reserved', string>>(
      stack,
      `SELECT (SELECT sum(amount_usd) FROM billing_transactions WHERE project_id = $1) AS paid,
        (SELECT sum(cost_usd) FROM runs WHERE project_id = $1) AS cost,
        (SELECT sum(price_usd) FROM provider_calls WHERE project_id = $1) AS ledger,
        reserved_in_project($1) AS reserved`,
      [project],
    );
    const { body } = await api.get<Project>(`/projects/${project}/`);
    const { paid, cost, ledger, reserved } = sums!;
    const all = [paid, cost, ledger, body.total_spent['USD'], body.spent_in_period['USD']];
    assert.deepEqual(
      all.map((usd) => new Decimal(usd ?? 0).toFixed()),
      all.map(() => amount.toFixed()),
    );
    assert.equal(Number(reserved), 0);
  }

  it('200 runs at once on a project with a limit for 50 calls: 50 calls are made, and no digit more is spent', async () => {
    const model = 'limited-model-01';
    const price = await priceOfCall(model);
    const { project, workflow } = await limitedWorkflow(model, price.times(CALLS));
    const before = stack.modelProvider.requestsFor(model).length;
    const runs = await startRuns(workflow, RUNS);
    assert.deepEqual(await endsOf(project, runs), { Succeeded: CALLS, budget_exceeded: RUNS - CALLS });
    assert.equal(stack.modelProvider.requestsFor(model).length - before, CALLS);
    await assertSpent(project, price.times(CALLS));
  });

  it('with a worker that is killed between the calls and their record: the repetitions use what was reserved', async () => {
    const model = 'limited-model-02';
    const price = await priceOfCall(model);
    const { project, workflow } = await limitedWorkflow(model, price.times(CALLS));
    const before = stack.modelProvider.requestsFor(model).length;
    // The answers to the first calls come only after the worker has been killed.
    stack.modelProvider.script(model, (request) => {
      const made = stack.modelProvider.requestsFor(model).length - before;
      return { ...usageOf(request), ...(made <= CALLS && { delayMs: 8_000 }) };
    });
    const starting = startRuns(workflow, RUNS);
    await eventually(() => stack.modelProvider.requestsFor(model).length - before >= CALLS / 2, PATIENCE);
    await killAndAwaitRestart(stack, 'worker');
    const runs = await starting;
    assert.deepEqual(await endsOf(project, runs), { Succeeded: CALLS, budget_exceeded: RUNS - CALLS });
    const [crashed] = await queryDatabase<{ crashes: number }>(
      stack,
      'SELECT sum(crashes)::int AS crashes FROM provider_calls WHERE project_id = $1',
      [project],
    );
    assert.ok(crashed!.crashes > 0, 'the kill has hit calls on the wire');
    // A call that was claimed when the worker died may not have been sent.
    const made = stack.modelProvider.requestsFor(model).length - before;
    assert.ok(made >= CALLS && made <= CALLS + crashed!.crashes, `${made} calls, ${crashed!.crashes} crashes`);
    await assertSpent(project, price.times(CALLS));
  });

  it('a limit that is lowered and raised while runs go on holds for the calls that come after it', async () => {
    const model = 'limited-model-03';
    const price = await priceOfCall(model);
    const { project, workflow } = await limitedWorkflow(model, price.times(5));
    const limitTo = async (calls: number): Promise<void> => {
      const body = { spending_limit: { amount: price.times(calls).toFixed(), period: 'total' } };
      assert.equal((await api.patch(`/projects/${project}/`, { body })).status, 200);
    };
    assert.deepEqual(await endsOf(project, await startRuns(workflow, 20)), { Succeeded: 5, budget_exceeded: 15 });
    await limitTo(3);
    assert.deepEqual(await endsOf(project, await startRuns(workflow, 5)), { budget_exceeded: 5 });
    await limitTo(9);
    assert.deepEqual(await endsOf(project, await startRuns(workflow, 20)), { Succeeded: 4, budget_exceeded: 16 });
    await assertSpent(project, price.times(9));
  });
});
