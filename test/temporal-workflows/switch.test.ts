import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, http, link, node, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('a switch in a run', function () {
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

  for (const execution of ['visible', 'dense']) {
    for (const [mode, taken] of [
      ['first', ['one']],
      ['all', ['one', 'three']],
    ] as const) {
      it(`takes ${mode}: what follows runs once, and the join after it (${execution})`, async () => {
        const start = trigger([{ id: 'n', type: 'number' }]);
        const ways = ['one', 'two', 'three'].map((name) => http(`${target.url}/${execution}-${mode}-${name}`));
        const [one, two, three] = ways as [(typeof ways)[0], (typeof ways)[0], (typeof ways)[0]];
        const otherwise = http(`${target.url}/${execution}-${mode}-otherwise`);
        const join = http(`${target.url}/${execution}-${mode}-join`);
        const asks = (id: string, operator: string, right: string, to: { id: string }) => ({
          id,
          condition: { left: '{{ input.n }}', operator, right },
          node: to.id,
        });
        const cases = [asks('one', '==', '1', one), asks('two', '==', '2', two), asks('three', '<', '3', three)];
        const choice = node('switch', { cases, mode, default_node: otherwise.id });
        link(start, choice);
        for (const way of [...ways, otherwise]) link(way, join);
        const data = { ...drawing([start, choice, ...ways, otherwise, join]), settings: { execution } };
        const run = await api.runToEnd(data, { n: 1 });
        assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
        const { cases: ids } = run.nodes[choice.id]!.result! as unknown as { cases: string[] };
        assert.deepEqual(ids, taken);
        const called = ['one', 'two', 'three', 'otherwise', 'join'].map(
          (name) => target.requestsTo(`/${execution}-${mode}-${name}`).length,
        );
        assert.deepEqual(called, [1, 0, mode === 'all' ? 1 : 0, 0, 1]);
        assert.equal((await transactionsOf(stack, run.runId)).length, 3 + taken.length);
      });
    }
  }

  it('takes the default where nothing holds; without one the way ends there', async () => {
    for (const hasDefault of [true, false]) {
      const [start, otherwise] = [trigger(), http(`${target.url}/default-${hasDefault}`)];
      const cases = [{ id: 'never', condition: { left: '1', operator: '==', right: '2' }, node: null }];
      const choice = node('switch', { cases, default_node: hasDefault ? otherwise.id : null });
      link(start, choice);
      const run = await api.runToEnd(drawing([start, choice, otherwise]));
      assert.deepEqual([run.status, run.nodes[choice.id]!.result!.content], ['succeed', 'default']);
      assert.equal(target.requestsTo(`/default-${hasDefault}`).length, hasDefault ? 1 : 0);
    }
  });
});
