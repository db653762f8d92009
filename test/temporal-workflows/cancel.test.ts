import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { condition, drawing, http, link, node, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, transactionsOf, withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('cancelling a run', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(() => target.close());

  let runs = 0;
  /** Starts a run whose only HTTP node hangs for half a minute. */
  async function startHanging() {
    const path = `/delay/30000/cancel-${++runs}`;
    const [start, call] = [trigger(), http(`${target.url}${path}`)];
    link(start, call);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, call]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requestsTo(path).length === 1);
    return { workflowId, runId, nodeId: call.id, request: target.requestsTo(path)[0]! };
  }

  async function assertCancelled({ workflowId, runId, nodeId }: Awaited<ReturnType<typeof startHanging>>) {
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'failed');
    assert.equal(end.data.data![nodeId]!.error!.code, 'cancelled');
    const record = await api.history(workflowId, runId);
    assert.equal(record.status, 'Cancelled');
    assert.ok(record['run_finished_at']);
    assert.equal((await transactionsOf(stack, runId)).length, 2);
  }

  it('by the API ends it as Cancelled within six seconds and hangs up the call in flight', async () => {
    const run = await startHanging();
    const startedAt = Date.now();
    const answer = await api.post<{ id: string }>(`/workflows/${run.workflowId}/history/${run.runId}/cancel/`);
    assert.equal(answer.status, 200);
    assert.equal(answer.body.id, run.runId);
    await assertCancelled(run);
    assert.ok(Date.now() - startedAt < 6_000, `${Date.now() - startedAt} ms`);
    await eventually(() => run.request.aborted);
    const again = await api.post<{ code: string }>(`/workflows/${run.workflowId}/history/${run.runId}/cancel/`);
    assert.equal(again.status, 400);
  });

  it('in the Temporal UI ends it as Cancelled', async () => {
    const run = await startHanging();
    await withTemporal(stack, (client) => client.workflow.getHandle(run.runId).cancel());
    await assertCancelled(run);
  });

  it('by terminating it in the Temporal UI ends it as Cancelled within a minute, although none of our code runs', async () => {
    const run = await startHanging();
    const startedAt = Date.now();
    await withTemporal(stack, (client) => client.workflow.getHandle(run.runId).terminate('test'));
    await assertCancelled(run);
    assert.ok(Date.now() - startedAt < 60_000);
  });

  it('stops a local activity that is under way when another one fails', async () => {
    const [begin, text, fails] = [
      trigger(),
      node('code', { code: 'return "ab".repeat(500_000)' }),
      condition('x', 'matches', '{{ input.pattern }}'),
    ];
    // A separate process judges this condition, which takes a while.
    const judged = condition(resultOf(text, 'content'), 'matches', '[0-9]+x');
    link(begin, text);
    link(text, [judged, fails]);
    const run = await api.runToEnd(drawing([begin, text, judged, fails]), { pattern: '(' });
    assert.equal(run.nodes[fails.id]?.error?.code, 'invalid_pattern', JSON.stringify(run.nodes[fails.id]));
    assert.equal(run.nodes[judged.id]?.error?.code, 'cancelled', JSON.stringify(run.nodes[judged.id]));
  });

  it('changes nothing for nodes that end at the moment of their cancellation: no workflow task fails', async () => {
    const [begin, body] = [trigger(), node('set', { value: 'x' })];
    // The outputs are too large, so the iterations fail side by side, and the first one stops the others.
    const output = '{{ input.text }}'.repeat(110);
    const loop = node('for_each', { items: '{{ input.list }}', body_node: body.id, output });
    link(begin, loop);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([begin, loop, body]));
    const input = { list: [1, 2, 3], text: 'x'.repeat(100_000) };
    for (let round = 0; round < 10; round++) {
      const { data: run } = await api.run(workflowId, input);
      const { data: ended } = await api.pollToEnd(run.id);
      assert.equal(ended.data?.[loop.id]?.error?.code, 'output_too_large');
      const events = await historyOf(stack, run.id);
      assert.deepEqual(
        events.filter(({ type }) => type === 'workflowTaskFailed').map(({ text }) => text),
        [],
      );
    }
  });
});
