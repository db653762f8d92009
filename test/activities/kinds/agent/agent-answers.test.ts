import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import type { ModelAnswer } from '../../../../harness/target/fake-model-provider.js';
import { drawing, link, llm, trigger } from '../../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { drawAgent, scriptModel, type DrawnAgent } from '../../../support/agents.js';
import { startToolServer, type ToolServer } from '../../../../harness/target/tool-server.js';

interface Step {
  iteration: number;
  status: string;
  is_final: boolean;
  model: string;
  content: string | null;
  input_tokens: number;
  output_tokens: number;
  cost: Record<string, string>;
  started_at: string;
  finished_at: string;
  left_out: boolean;
  tool_calls: {
    server_label: string | null;
    tool_name: string;
    arguments: unknown;
    edited_arguments: unknown;
    outcome: string;
    answer: string;
    approval: unknown;
    started_at: string | null;
    finished_at: string;
  }[];
}

interface Steps {
  page: number;
  size: number;
  total: number;
  items: Step[];
}

const SUM = {
  type: 'json_schema',
  json_schema: {
    name: 'sum',
    schema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
    strict: true,
  },
};

describe('what an agent answers, costs and has done', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    tools = await startToolServer();
  });
  after(() => tools.close());

  const add = (a: number, b: number): ModelAnswer => ({ toolCalls: [{ name: 'add', arguments: { a, b } }] });

  function draw(answers: ModelAnswer[], settings: Record<string, unknown>): DrawnAgent & { model: string } {
    const model = scriptModel(stack, answers);
    const server = { endpoint_url: tools.url };
    return { ...drawAgent(model, { server, settings, message: 'Work on {{ input.topic }}' }), model };
  }

  const amountOf = async (runId: string, nodeId: string): Promise<string> => {
    const paid = (await transactionsOf(stack, runId)).filter(({ node_id }) => node_id === nodeId);
    assert.equal(paid.length, 1);
    return paid[0]!.amount_usd;
  };

  describe('its final answer', () => {
    it('has the form that response_format asks for, and is there as JSON', async () => {
      const { data, node, model } = draw([add(1, 2), { text: '{"sum": 3}' }], { response_format: SUM });
      const { status, nodes } = await api.runToEnd(data, { topic: 'sums' });
      assert.equal(status, 'succeed', JSON.stringify(nodes));
      assert.deepEqual(nodes[node.id]!.result!['json'], { sum: 3 });
      assert.equal(nodes[node.id]!.result!.content, '{"sum": 3}');
      for (const { body } of stack.modelProvider.requestsFor(model)) assert.deepEqual(body['response_format'], SUM);
    });

    it('is asked for once more where it does not fit, which is paid for', async () => {
      const { data, node, model } = draw([add(1, 2), { text: 'three' }, { text: '{"sum": 3}' }], {
        response_format: SUM,
        max_iterations: 2,
      });
      const { runId, nodes } = await api.runToEnd(data, { topic: 'sums' });
      assert.deepEqual(nodes[node.id]!.result!['json'], { sum: 3 });
      assert.equal((nodes[node.id]!.result!['usage'] as { total_tokens: number }).total_tokens, 45);
      assert.equal(await amountOf(runId, node.id), '0.00006');
      const [, , repair] = stack.modelProvider.requestsFor(model);
      assert.deepEqual(
        repair!.messages.slice(-2).map(({ role }) => role),
        ['assistant', 'user'],
      );
      assert.match(String(repair!.messages.at(-1)!.content), /cannot be used/);
      assert.equal(repair!.body['tool_choice'], 'none');
    });

    it('that does not fit twice is invalid_output, and both are paid for', async () => {
      const { data, node, model } = draw([{ text: 'three' }, { text: '{"sum": "3"}' }, { text: '{"sum": 3}' }], {
        response_format: SUM,
      });
      const { runId, nodes } = await api.runToEnd(data, { topic: 'sums' });
      assert.equal(nodes[node.id]!.error!.code, 'invalid_output');
      assert.equal(stack.modelProvider.requestsFor(model).length, 2);
      assert.equal(await amountOf(runId, node.id), '0.00004');
    });

    it('may be any JSON object with json_object', async () => {
      const { data, node } = draw([{ text: '{"a": {"b": 1}}' }], { response_format: { type: 'json_object' } });
      const { nodes } = await api.runToEnd(data, { topic: 'sums' });
      assert.deepEqual(nodes[node.id]!.result!['json'], { a: { b: 1 } });
    });
  });

  describe('max_cost', () => {
    it('stops the agent before the call that could pass it; nothing catches that, and what was paid is kept', async () => {
      // The first call is charged for 5,000 output tokens.
      const usage = { prompt_tokens: 10, completion_tokens: 5_000, total_tokens: 5_010 };
      const { data, node, model } = draw([{ ...add(1, 2), usage }, { text: 'never' }], { max_cost: '0.012' });
      Object.assign(data.nodes[1]!.data, { on_error: 'continue' });
      const { status, runId, nodes } = await api.runToEnd(data, { topic: 'sums' });
      assert.equal(status, 'failed');
      assert.equal(nodes[node.id]!.error!.code, 'budget_exceeded', JSON.stringify(nodes));
      assert.equal(stack.modelProvider.requestsFor(model).length, 1);
      assert.ok(Number(await amountOf(runId, node.id)) > 0);
    });

    it('of nothing makes no call, and a large one as a number or a decimal changes nothing', async () => {
      const none = draw([{ text: 'never' }], { max_cost: 0 });
      const { nodes, runId } = await api.runToEnd(none.data, { topic: 'sums' });
      assert.equal(nodes[none.node.id]!.error!.code, 'budget_exceeded');
      assert.equal(stack.modelProvider.requestsFor(none.model).length, 0);
      assert.equal(await amountOf(runId, none.node.id), '0');
      for (const max_cost of [1000, '1000.000001', null]) {
        const { data } = draw([{ text: 'done' }], { max_cost });
        assert.equal((await api.runToEnd(data, { topic: 'sums' })).status, 'succeed', String(max_cost));
      }
    });

    it('is a 422 where it is no amount', async () => {
      for (const max_cost of [-1, 'one', '1e3', '', true, {}]) {
        const { data } = draw([], { max_cost });
        const workflowId = await api.createWorkflow(await api.createProject(), data);
        assert.equal((await api.run(workflowId, { topic: 'sums' })).status, 422, JSON.stringify(max_cost));
      }
    });
  });

  describe('its steps', () => {
    const stepsOf = (workflowId: number, runId: string, nodeId: string, query = '') =>
      api.get<Steps>(`/workflows/${workflowId}/history/${runId}/nodes/${nodeId}/steps/${query}`);

    it('say what the model said and called, what came of it, and what it cost, secrets masked', async () => {
      const token = `token-${randomUUID()}`;
      const { data, node, model } = draw(
        [
          {
            text: `I know ${token}.`,
            toolCalls: [
              { name: 'note', arguments: { text: token } },
              { name: 'add', arguments: '{"a": 12345678901234567890, "b": 1}' },
              { name: 'nowhere', arguments: 'no JSON' },
            ],
          },
          { text: 'done' },
        ],
        {},
      );
      const { workflowId, runId } = await api.runToEnd(data, { topic: 'notes', token });
      const { status, body } = await stepsOf(workflowId, runId, node.id);
      assert.equal(status, 200);
      assert.deepEqual([body.page, body.size, body.total, body.items.length], [1, 10, 2, 2]);
      const [first, last] = body.items as [Step, Step];
      assert.ok(!JSON.stringify(body).includes(token));
      assert.deepEqual(
        [first.iteration, first.status, first.is_final, first.model, first.content, first.cost['USD']],
        [1, 'succeed', false, model, 'I know ********.', '0.00002'],
      );
      assert.deepEqual([first.input_tokens, first.output_tokens, first.left_out], [10, 5, false]);
      assert.ok(new Date(first.finished_at) >= new Date(first.started_at));
      // JavaScript rounds the number, here as in the server of the tools.
      const rounded = Number('12345678901234567890');
      assert.deepEqual(
        first.tool_calls.map(({ tool_name, arguments: given, outcome, answer }) => [tool_name, given, outcome, answer]),
        [
          ['note', { text: '********' }, 'result', 'noted: ********'],
          ['add', { a: rounded, b: 1 }, 'result', String(rounded + 1)],
          ['nowhere', 'no JSON', 'invalid', 'There is no tool of this name.'],
        ],
      );
      assert.ok(first.tool_calls[0]!.started_at !== null && first.tool_calls[2]!.started_at === null);
      assert.deepEqual([last.is_final, last.content, last.tool_calls], [true, 'done', []]);
      const { body: second } = await stepsOf(workflowId, runId, node.id, '?page=2&size=1');
      assert.deepEqual([second.total, second.items], [2, [last]]);
    });

    it('are none of another kind, and a 404 of an unknown node, run or iteration', async () => {
      const start = trigger();
      const ask = llm('hello');
      link(start, ask);
      const { workflowId, runId } = await api.runToEnd(drawing([start, ask]));
      for (const id of [start.id, ask.id]) {
        const { status, body } = await stepsOf(workflowId, runId, id);
        assert.deepEqual([status, body], [200, { page: 1, size: 10, total: 0, items: [] }]);
      }
      assert.equal((await stepsOf(workflowId, runId, 'nowhere')).status, 404);
      assert.equal((await stepsOf(workflowId, randomUUID(), ask.id)).status, 404);
      assert.equal((await stepsOf(workflowId, runId, ask.id, `?path=${start.id}[0]`)).status, 404);
      assert.equal((await stepsOf(workflowId, runId, ask.id, '?size=0')).status, 400);
    });

    it('keep models, tokens and costs once the results have expired', async () => {
      const { data, node, model } = draw([add(1, 2), { text: 'three' }], {});
      const { workflowId, runId } = await api.runToEnd(data, { topic: 'sums' });
      await queryDatabase(stack, 'UPDATE runs SET results_expired_at = now() WHERE id = $1', [runId]);
      const { body } = await stepsOf(workflowId, runId, node.id);
      assert.deepEqual(
        body.items.map((step) => [step.model, step.content, step.tool_calls, step.input_tokens, step.cost['USD']]),
        [1, 2].map(() => [model, null, [], 10, '0.00002']),
      );
    });
  });
});
