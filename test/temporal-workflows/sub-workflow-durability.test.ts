// Runs of sub-workflows survive the death of any process: each node starts one run, and it ends once.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, linkInRow, node, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { queryDatabase, withTemporal } from '../support/inspect.js';
import { killAndAwaitRestart, type StackPart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { untilWaiting } from '../support/waiting.js';

interface ChildRow {
  id: string;
  status: string;
  place: string;
  transactions: number;
}

describe('sub-workflows and crashes', function () {
  this.timeout(300_000);
  let stack: StartedStack;
  let api: ApiClient;
  let project: number;
  let tools: ToolServer;

  before(async () => {
    [stack, tools] = await Promise.all([startStack(), startToolServer()]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
    project = await api.createProject();
  });
  after(() => Promise.all([stack.stop(), tools.close()]));

  async function killAndAwaitReady(name: StackPart): Promise<void> {
    await killAndAwaitRestart(stack, name);
    await eventually(async () => (await fetch(`${stack.apiUrl}/readyz`)).ok, { timeoutMs: 60_000 });
  }

  /** The runs with this root: the run itself and all runs below it. */
  function runsBelow(rootId: string): Promise<ChildRow[]> {
    return queryDatabase<ChildRow>(
      stack,
      `SELECT id, status, parent_path AS place,
        (SELECT count(*)::integer FROM billing_transactions AS paid WHERE paid.run_id = runs.id) AS transactions
      FROM runs WHERE root_run_id = $1 ORDER BY depth, created_at`,
      [rootId],
    );
  }

  /** Starts a run for each item of a list. Each of them waits for `seconds` and returns its item. */
  async function startMany(
    count: number,
    concurrency: number,
    seconds: number,
  ): Promise<{ runId: string; loop: string }> {
    const output = node('output', { value: '{{ input.item }}' });
    const each = await api.createWorkflow(project, drawing(linkInRow([trigger(), node('wait', { seconds }), output])));
    const call = node('workflow', { workflow_id: each });
    const items = Array.from({ length: count }, (_, index) => index);
    const loop = node('for_each', { items, concurrency, body_node: call.id, next_nodes: [] });
    loop.data['output'] = resultOf(call, 'output');
    call.data['input'] = { item: `{{ ${loop.id}.item }}` };
    const data = drawing([...linkInRow([trigger(), loop]), call]);
    const { status, data: started } = await api.run(await api.createWorkflow(project, data));
    assert.equal(status, 201, JSON.stringify(started));
    return { runId: started.id, loop: loop.id };
  }

  async function assertWell({ runId, loop }: { runId: string; loop: string }, count: number): Promise<void> {
    const end = await api.pollToEnd(runId, { timeoutMs: 200_000, intervalMs: 250 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end.data.data).slice(0, 2_000));
    const { items } = end.data.data![loop]!.result as unknown as { items: number[] };
    assert.deepEqual(
      items,
      Array.from({ length: count }, (_, index) => index),
    );
    const children = await runsBelow(runId);
    assert.equal(children.length, count, 'each node has started one run');
    assert.equal(new Set(children.map(({ place }) => place)).size, count);
    for (const { id, status, transactions } of children) assert.deepEqual([status, transactions], ['Succeeded', 3], id);
  }

  const untilBegun = (runId: string, count: number): Promise<unknown> =>
    eventually(async () => (await runsBelow(runId)).length >= count, { timeoutMs: 60_000, intervalMs: 20 });

  for (const part of ['worker', 'api', 'temporal', 'postgres'] as const) {
    it(`are one for each node, and end, after kill -9 of ${part}`, async () => {
      const many = await startMany(40, 10, 1);
      await untilBegun(many.runId, 12);
      await killAndAwaitReady(part);
      await assertWell(many, 40);
    });
  }

  it('are one for each node though workers die again and again while they begin', async () => {
    const many = await startMany(60, 20, 0);
    for (const begun of [1, 15, 30, 45]) {
      await untilBegun(many.runId, begun);
      await killAndAwaitRestart(stack, 'worker');
    }
    await assertWell(many, 60);
  });

  it('may be 200 of one run, beside those of another', async () => {
    const both = [await startMany(200, 20, 0.2), await startMany(50, 20, 0.2)] as const;
    await assertWell(both[0], 200);
    await assertWell(both[1], 50);
  });

  const toolOf = (workflowId: number): object => ({
    type: 'workflow',
    workflow_id: workflowId,
    name: 'look',
    require_approval: 'never',
  });

  async function startAgent(model: string, given: object[], data: object = {}): Promise<{ runId: string; id: string }> {
    const messages = [{ role: 'user', message: 'Work' }];
    const agent = node('agent', { messages, settings: { model_name: model }, tools: given, ...data });
    const { data: run } = await api.run(await api.createWorkflow(project, drawing(linkInRow([trigger(), agent]))));
    return { runId: run.id, id: agent.id };
  }

  it('are one for each tool call of an agent, and answer it once, though worker and Temporal are killed', async () => {
    const output = node('output', { value: '{{ input.item }}' });
    const nodes = linkInRow([trigger(), node('wait', { seconds: 2 }), output]);
    const look = toolOf(await api.createWorkflow(project, drawing(nodes)));
    const calls = Array.from({ length: 24 }, (_, item) => ({ name: 'look', arguments: { item } }));
    stack.modelProvider.script('calls-runs', [{ toolCalls: calls }, { text: 'done' }]);
    const { runId, id } = await startAgent('calls-runs', [look]);
    await untilBegun(runId, 5);
    await killAndAwaitRestart(stack, 'worker');
    await untilBegun(runId, 24);
    await killAndAwaitReady('temporal');
    const end = await api.pollToEnd(runId, { timeoutMs: 120_000, intervalMs: 250 });
    assert.equal(end.data.data![id]!.result!.content, 'done', JSON.stringify(end.data));
    const runs = await runsBelow(runId);
    assert.deepEqual(
      runs.map(({ status, transactions }) => [status, transactions]),
      calls.map(() => ['Succeeded', 3]),
    );
    const asked = stack.modelProvider.requestsFor('calls-runs');
    assert.equal(asked.length, 2);
    const answers = asked[1]!.messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    assert.deepEqual(
      answers,
      calls.map((_, item) => String(item)),
    );
  });

  it('are cancelled when the agent fails that has called them', async () => {
    const nodes = linkInRow([trigger(), node('wait', { mode: 'callback', timeout: 600 })]);
    const look = toolOf(await api.createWorkflow(project, drawing(nodes)));
    const slow = { name: 'slow', arguments: { ms: 12_000, text: 'never repeated' } };
    stack.modelProvider.script('calls-both', [
      { toolCalls: [{ name: 'look', arguments: {} }, slow] },
      { text: 'never' },
    ]);
    const server = { type: 'mcp', server_label: 'tools', endpoint_url: tools.url, require_approval: 'never' };
    const { runId, id } = await startAgent('calls-both', [look, server], { on_error: 'continue' });
    await untilBegun(runId, 1);
    await eventually(() => tools.callsOf('slow').length === 1);
    await killAndAwaitRestart(stack, 'worker');
    const end = await api.pollToEnd(runId, { timeoutMs: 90_000, intervalMs: 200 });
    assert.equal(end.data.data![id]!.error!.code, 'outcome_unknown');
    const [run] = await runsBelow(runId);
    await api.pollToEnd(run!.id, { timeoutMs: 60_000 });
    assert.equal((await runsBelow(runId))[0]!.status, 'Cancelled');
  });

  it('are cancelled when their parent is terminated, or lost with everything else that died', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const leaf = await api.createWorkflow(project, drawing(linkInRow([trigger(), pause])));
    const inner = node('workflow', { workflow_id: leaf });
    const middle = await api.createWorkflow(project, drawing(linkInRow([trigger(), inner])));
    const outer = node('workflow', { workflow_id: middle });
    const top = await api.createWorkflow(project, drawing(linkInRow([trigger(), outer])));
    const { id: runId } = (await api.run(top)).data;
    await untilWaiting(api, runId, outer.id);
    await eventually(async () => (await runsBelow(runId)).length === 2);
    await withTemporal(stack, (client) => client.workflow.getHandle(runId).terminate('a test'));
    await killAndAwaitReady('api');
    await api.pollToEnd(runId, { timeoutMs: 90_000, intervalMs: 200 });
    for (const { id } of await runsBelow(runId)) await api.pollToEnd(id, { timeoutMs: 60_000, intervalMs: 200 });
    assert.deepEqual(
      (await runsBelow(runId)).map(({ status }) => status),
      ['Cancelled', 'Cancelled'],
    );
  });
});
