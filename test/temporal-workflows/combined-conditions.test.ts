// Conditions of several comparisons in runs, in each kind that has conditions.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, link, node, resultOf, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { sharedStack } from '../support/shared-stack.js';

type Condition = Record<string, unknown>;

const is = (left: string, right: string): Condition => ({ left, operator: '==', right });
/** Fails when it is evaluated. The pattern comes from the input, so no check finds the mistake before the run. */
const BROKEN: Condition = { left: 'a', operator: 'matches', right: '{{ input.pattern }}' };

describe('conditions of several comparisons in a run', function () {
  this.timeout(120_000);
  let api: ApiClient;

  before(async () => {
    const stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  const set = (value: unknown): DrawingNode => node('set', { value });

  for (const execution of ['visible', 'dense']) {
    const draw = (nodes: DrawingNode[]) => ({ ...drawing(nodes), settings: { execution } });
    const asks = (condition: Condition) => {
      const [start, before, after] = [trigger(), set('Oslo'), set('after')];
      const asked = node('condition', { condition });
      link(start, before);
      link(before, asked);
      link(asked, after);
      return { start, before, asked, after };
    };

    it(`read results of nodes in every list, and stop where the answer is known (${execution})`, async () => {
      const { start, before, asked, after } = asks({});
      asked.data['condition'] = {
        all: [
          { any: [is(resultOf(before), 'Oslo'), BROKEN] },
          { any: [{ all: [is('1', '2'), BROKEN] }, is('{{ input.city }}', 'Rome')] },
        ],
      };
      const run = await api.runToEnd(draw([start, before, asked, after]), { city: 'Rome', pattern: '(' });
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      assert.equal(run.nodes[asked.id]?.result?.content, 'true');
      assert.equal(run.nodes[after.id]?.status, 'succeed');
    });

    it(`fail with invalid_pattern where it is reached (${execution})`, async () => {
      const { start, before, asked, after } = asks({ any: [is('1', '2'), { all: [is('1', '1'), BROKEN] }] });
      const run = await api.runToEnd(draw([start, before, asked, after]), { pattern: '(' });
      assert.deepEqual([run.status, run.nodes[asked.id]?.error?.code], ['failed', 'invalid_pattern']);
    });

    it(`choose the case of a switch, and end a loop (${execution})`, async () => {
      const [start, body, after] = [trigger(), set(''), set('after')];
      const loop = node('loop', { body_node: body.id, max_rounds: 9 });
      body.data['value'] = `{{ ${loop.id}.index }}`;
      loop.data['until'] = {
        all: [is('{{ input.city }}', 'Rome'), { any: [is(`{{ ${loop.id}.last }}`, '2'), is('1', '2')] }],
      };
      const cases = [
        { id: 'never', condition: { all: [is('1', '1'), is('1', '2')] }, node: null },
        {
          id: 'often',
          condition: { any: [{ left: resultOf(loop, 'rounds'), operator: '>', right: '2' }, BROKEN] },
          node: after.id,
        },
      ];
      const choice = node('switch', { cases });
      link(start, loop);
      link(loop, choice);
      const run = await api.runToEnd(draw([start, loop, body, choice, after]), { city: 'Rome', pattern: '(' });
      assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
      assert.equal(run.nodes[loop.id]?.result?.['rounds'], 3);
      assert.equal(run.nodes[choice.id]?.result?.content, 'often');
      assert.equal(run.nodes[after.id]?.status, 'succeed');
    });
  }

  it('are compared apart where that takes long, with the same answer', async () => {
    const text = 'a'.repeat(200_000);
    const [start, asked] = [trigger(), node('condition')];
    const contains = (right: string): Condition => ({ left: '{{ input.text }}', operator: 'contains', right });
    asked.data['condition'] = {
      any: [{ all: [contains('a'), contains('b')] }, { all: [contains('aa'), contains('aaa')] }, BROKEN],
    };
    link(start, asked);
    const run = await api.runToEnd(drawing([start, asked]), { text, pattern: '(' });
    assert.equal(run.nodes[asked.id]?.result?.content, 'true', JSON.stringify(run.nodes));
  });

  it('are shown filled in, and refused with the path of what is wrong when a run starts', async () => {
    const [start, asked] = [trigger(), node('condition')];
    link(start, asked);
    asked.data['condition'] = { all: [is('{{ input.city }}', 'Rome'), { any: [is('{{ input.city }}', 'Bonn')] }] };
    const { runId, workflowId } = await api.runToEnd(drawing([start, asked]), { city: 'Rome' });
    const shown = await api.get<{ input: { condition: unknown } }>(
      `/workflows/${workflowId}/history/${runId}/nodes/${asked.id}/`,
    );
    assert.deepEqual(shown.body.input.condition, { all: [is('Rome', 'Rome'), { any: [is('Rome', 'Bonn')] }] });

    asked.data['condition'] = { all: [{ any: [{ left: '1', operator: '==' }] }, { all: [] }] };
    const id = await api.createWorkflow(await api.createProject(), drawing([start, asked]));
    const { status, data } = await api.run(id);
    assert.equal(status, 422);
    assert.deepEqual(data.data?.[asked.id]?.result, [
      { 'condition.all.0.any.0.right': 'Field required' },
      { 'condition.all.1.all': 'List should have at least 1 item after validation, not 0' },
    ]);
    const check = await api.get<{ errors: { path: string }[] }>(`/workflows/${id}/check_workflow/`);
    assert.deepEqual(
      check.body.errors.map(({ path }) => path),
      ['condition.all.0.any.0.right', 'condition.all.1.all'],
    );
  });

  it('are judged alone in a test, which names the results that they read', async () => {
    const [start, before, asked] = [trigger(), set('Oslo'), node('condition')];
    asked.data['condition'] = { any: [is('1', '2'), { all: [is(resultOf(before), 'Oslo')] }] };
    link(start, before);
    link(before, asked);
    const id = await api.createWorkflow(await api.createProject(), drawing([start, before, asked]));
    const body = { mode: 'node', node: asked.id, input: {} };
    const refused = await api.post<{ code: string; missing: string[] }>(`/workflows/${id}/test/`, { body });
    assert.deepEqual([refused.status, refused.body.code, refused.body.missing], [400, 'results_missing', [before.id]]);
    const mocks = { [before.id]: { content: 'Oslo' } };
    const started = await api.post<{ data: { id: string } }>(`/workflows/${id}/test/`, { body: { ...body, mocks } });
    assert.equal(started.status, 201, JSON.stringify(started.body));
    const { data } = await api.pollToEnd(started.body.data.id);
    assert.equal(data.data?.[asked.id]?.result?.content, 'true');
  });
});
