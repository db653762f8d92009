import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type NodeEntry } from '../../harness/client/api-client.js';
import { agent, drawing, http, link, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('nodes whose ids look like the names of others', function () {
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

  const named = (id: string, drawn: DrawingNode): DrawingNode => ({ ...drawn, id, data: { ...drawn.data, id } });
  const pathOf = (id: string): string => `/delay/1500/${encodeURIComponent(id)}`;
  const call = (id: string) => named(id, http(`${target.url}${pathOf(id)}`));
  /** Fails unless each of these nodes has the answer to its own request, which the target has got once. */
  function assertOwnResults(nodes: Record<string, NodeEntry>, ids: string[]): void {
    for (const id of ids) {
      const { status_code: status, content } = nodes[id]!.result!;
      const { path } = JSON.parse(content) as { path: string };
      assert.deepEqual([status, path], [200, pathOf(id)], id);
      assert.equal(target.requestsTo(pathOf(id)).length, 1, id);
    }
  }

  it('an agent `a` beside requests `a/0`, `a~0` and `a%2F0`: the run ends, and each has its own result', async () => {
    const model_name = 'colliding-agent';
    stack.modelProvider.script(model_name, { text: 'the answer', delayMs: 1_500 });
    const start = trigger();
    const ask = named('a', agent('Well?', { model_name }, []));
    const others = ['a/0', 'a~0', 'a%2F0', 'a/0/tools', '%2F', '/'].map(call);
    link(start, [ask, ...others]);
    const { status, nodes } = await api.runToEnd(drawing([start, ask, ...others]));
    assert.equal(status, 'succeed');
    assert.equal(nodes['a']!.result!.content, 'the answer');
    assertOwnResults(
      nodes,
      others.map(({ id }) => id),
    );
  });

  it('ids of 200 characters that are equal before the cut are different nodes', async () => {
    const start = trigger();
    const long = ['質'.repeat(199) + '一', '質'.repeat(199) + '二', `${'x'.repeat(199)}/`, `${'x'.repeat(199)}[`].map(
      call,
    );
    link(start, long);
    const { status, nodes } = await api.runToEnd(drawing([start, ...long]));
    assert.equal(status, 'succeed');
    assertOwnResults(
      nodes,
      long.map(({ id }) => id),
    );
  });

  it('a loop `a` beside a loop `a[0]` and a node `a[0]/x`: iterations are kept apart, and found by their paths', async () => {
    const start = trigger();
    const inside = call('x');
    const other = call('y');
    const beside = call('a[0]/x');
    const loop = named('a', node('for_each', { items: '[1, 2]', body_node: 'x', concurrency: 2 }));
    const odd = named('a[0]', node('for_each', { items: '[1]', body_node: 'y' }));
    link(start, [loop, odd, beside]);
    const run = await api.runToEnd(drawing([start, loop, odd, inside, other, beside]));
    assert.equal(run.status, 'succeed');
    const list = async (id: string) => {
      const at = `/workflows/${run.workflowId}/history/${run.runId}`;
      const { body } = await api.get<{ items: { path: string; nodes: object }[] }>(
        `${at}/iterations/?node=${encodeURIComponent(id)}`,
      );
      return body.items.map(({ path, nodes }) => [path, Object.keys(nodes)]);
    };
    assert.deepEqual(await list('a'), [
      ['a[0]', ['x']],
      ['a[1]', ['x']],
    ]);
    assert.deepEqual(await list('a[0]'), [['a%5B0%5D[0]', ['y']]]);
    const one = await api.get<{ status: string }>(
      `/workflows/${run.workflowId}/history/${run.runId}/nodes/y/?path=${encodeURIComponent('a%5B0%5D[0]')}`,
    );
    assert.deepEqual([one.status, one.body.status], [200, 'succeed']);
    const paid = await transactionsOf(stack, run.runId);
    assert.equal(new Set(paid.map((row) => `${row.path} ${row.node_id}`)).size, paid.length);
    assert.equal(paid.length, 7);
  });
});
