import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { drawing, linkInRow, llm, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import type { Workflow } from '../bodies.js';

interface Spending {
  stopped: { limited_by: string; calls: number }[];
}

describe('the limit of a run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
  });

  const spendingOf = async (id: number): Promise<Spending> =>
    (await api.get<Spending>(`/projects/${id}/spending/`)).body;
  const modelOf = (answers: object = {}): string => {
    const model = `spending-${randomUUID()}`;
    stack.modelProvider.script(model, answers);
    return model;
  };
  const ask = (model: string, data: object = {}): DrawingNode =>
    llm('x', { settings: { model_name: model, max_tokens: 5 }, ...data });
  const runOf = async (id: number) => {
    const runId = (await api.run(id)).data.id;
    const { status, data: entries } = (await api.pollToEnd(runId)).data;
    return { runId, status, entries: entries ?? {} };
  };

  const limitRuns = (id: number, amount: unknown) =>
    api.patch<Workflow>(`/workflows/${id}/`, { body: { max_run_cost: amount } });

  it('is read as it was set, belongs to duplicates too, and refuses what is no amount', async () => {
    const id = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger()])));
    assert.equal((await api.get<Workflow>(`/workflows/${id}/`)).body['max_run_cost'], null);
    assert.equal((await limitRuns(id, '0.10')).body['max_run_cost'], '0.1');
    const { body: copy } = await api.post<Workflow>(`/workflows/${id}/duplicate/`);
    assert.equal((await api.get<Workflow>(`/workflows/${copy.id}/`)).body['max_run_cost'], '0.1');
    for (const wrong of ['-1', '1e3', '', 1, true, {}, '0.1234567890123456789']) {
      assert.equal((await limitRuns(id, wrong)).status, 400, JSON.stringify(wrong));
    }
    assert.equal((await limitRuns(id, null)).body['max_run_cost'], null);
  });

  it('stops the run before the call that could pass it, and the next run begins anew', async () => {
    const model = modelOf();
    const [first, second] = [ask(model), ask(model)];
    const project = await api.createProject();
    const id = await api.createWorkflow(project, drawing(linkInRow([trigger(), first, second])));
    await limitRuns(id, '0.00006');
    for (let repeat = 0; repeat < 2; repeat++) {
      const { entries } = await runOf(id);
      assert.equal(entries[first.id]!.status, 'succeed');
      assert.match(
        entries[second.id]!.error!.message,
        /The run has spent 0\.00002 USD of its max_run_cost of 0\.00006/,
      );
    }
    await limitRuns(id, '0.001');
    assert.equal((await runOf(id)).status, 'succeed');
    assert.deepEqual(
      (await spendingOf(project)).stopped.map(({ limited_by: by, calls }) => [by, calls]),
      [['run', 2]],
    );
  });

  it('counts child runs, which have their own limits, too', async () => {
    const model = modelOf();
    const project = await api.createProject();
    const childAsk = ask(model);
    const child = await api.createWorkflow(project, drawing(linkInRow([trigger(), childAsk])));
    const [call, after] = [node('workflow', { workflow_id: child, input: {} }), ask(model)];
    const parent = await api.createWorkflow(project, drawing(linkInRow([trigger(), call, after])));
    await limitRuns(parent, '0.00006');
    const { entries } = await runOf(parent);
    assert.equal(entries[call.id]!.status, 'succeed');
    assert.equal(entries[after.id]!.error!.code, 'budget_exceeded');
    await limitRuns(parent, '0.00001');
    assert.equal((await runOf(parent)).entries[call.id]!.error!.code, 'child_failed');
    await limitRuns(parent, null);
    await limitRuns(child, '0');
    assert.equal((await runOf(parent)).entries[call.id]!.error!.code, 'child_failed');
    assert.equal(stack.modelProvider.requestsFor(model).length, 1);
  });

  it('the max_cost of an agent also stops a run that its tool has started', async () => {
    const model = modelOf();
    const project = await api.createProject();
    const [first, second] = [ask(model), ask(model)];
    const child = await api.createWorkflow(project, drawing(linkInRow([trigger(), first, second])));
    const asking = modelOf([{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]);
    const tool = { type: 'workflow', workflow_id: child, name: 'look', require_approval: 'never' };
    const settings = { model_name: asking, max_tokens: 5, max_cost: '0.00021' };
    const work = node('agent', { messages: [{ role: 'user', message: 'x' }], settings, tools: [tool] });
    const parent = await api.createWorkflow(project, drawing(linkInRow([trigger(), work])));
    stack.modelProvider.script(model, { usage: { prompt_tokens: 80, completion_tokens: 40, total_tokens: 120 } });
    await runOf(parent);
    assert.equal(stack.modelProvider.requestsFor(model).length, 1, 'the second call of the child is not made');
    assert.deepEqual(new Set((await spendingOf(project)).stopped.map(({ limited_by: by }) => by)), new Set(['agent']));
  });

  it('holds for all iterations of a loop together', async () => {
    const model = modelOf();
    const body = ask(model);
    const loop = node('for_each', {
      items: [1, 2, 3, 4, 5, 6],
      body_node: body.id,
      concurrency: 3,
      on_item_error: 'null',
    });
    const id = await api.createWorkflow(await api.createProject(), drawing([...linkInRow([trigger(), loop]), body]));
    await limitRuns(id, '0.00006');
    const { status, runId } = await runOf(id);
    assert.equal(status, 'failed', 'budget_exceeded is not swallowed by on_item_error');
    const { cost } = await api.history(id, runId);
    assert.ok(Number(cost['USD']) <= 0.00006, cost['USD']);
  });
});
