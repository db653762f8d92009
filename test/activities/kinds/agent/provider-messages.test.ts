import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../../harness/client/api-client.js';
import { openEventStream } from '../../../support/event-stream.js';
import type { ModelAnswer, ModelRequest } from '../../../../harness/target/fake-model-provider.js';
import { queryDatabase } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { approve, drawAgent, scriptModel, type Answers, type DrawnAgent } from '../../../support/agents.js';
import { startToolServer, type ToolServer } from '../../../../harness/target/tool-server.js';

const THOUGHT = 'private-thought-7c31';
const SIGNED = { google: { thought_signature: 'c2lnbmVk' } };
const THINKING = { type: 'thinking', thinking: [{ type: 'text', text: THOUGHT }], closed: true };

interface Call {
  id: unknown;
  function: { arguments: unknown };
}

describe('what providers write in the messages of an agent', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });
  beforeEach(async () => {
    tools = await startToolServer();
  });
  afterEach(() => tools.close());

  function draw(answers: Answers, require_approval = 'never'): DrawnAgent & { requests: () => ModelRequest[] } {
    const model = scriptModel(stack, answers);
    const drawn = drawAgent(model, { server: { endpoint_url: tools.url, require_approval } });
    return { ...drawn, requests: () => stack.modelProvider.requestsFor(model) };
  }

  const toolCall = (id: unknown, name: string, written: unknown, extra: object = {}): object => ({
    ...extra,
    id,
    type: 'function',
    function: { name, arguments: written },
  });
  const message = {
    role: 'assistant',
    content: [THINKING, { type: 'text', text: 'I note it.' }],
    reasoning_content: THOUGHT,
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'ZW5j', format: 'google-gemini-v1', index: 0 }],
    seed: 7,
    tool_calls: [toolCall('call_a', 'note', '{"text": "x"}', { extra_content: SIGNED })],
  };
  const answersWith = (streams: boolean): ModelAnswer[] => [
    { message, streams },
    { text: 'noted', streams },
  ];

  for (const streams of [false, true]) {
    it(`go back as they came, over an approval, and thoughts are shown to nobody${streams ? ', streamed' : ''}`, async () => {
      const { data, node, requests } = draw(answersWith(streams), 'always');
      const workflowId = await api.createWorkflow(await api.createProject(), data);
      const { id: runId } = (await api.run(workflowId)).data;
      const stream = await openEventStream(stack.apiUrl, stack.apiKey, runId, { withDeltas: true });
      await approve(api, runId, node.id);
      const end = await api.pollToEnd(runId);
      await stream.ended;
      assert.equal(end.data.data![node.id]!.result!.content, 'noted');
      assert.deepEqual(requests()[1]!.messages.slice(1), [
        message,
        { role: 'tool', tool_call_id: 'call_a', content: 'noted: x' },
      ]);
      const steps = await api.get<{ items: { content: string | null }[] }>(
        `/workflows/${workflowId}/history/${runId}/nodes/${node.id}/steps/`,
      );
      assert.deepEqual(
        steps.body.items.map(({ content }) => content),
        ['I note it.', 'noted'],
      );
      for (const shown of [stream.events, end, steps.body]) assert.ok(!JSON.stringify(shown).includes(THOUGHT));
      const rows = await queryDatabase<{ text: string }>(
        stack,
        'SELECT turn::text AS text FROM agent_turns turn WHERE run_id = $1',
        [runId],
      );
      assert.equal(rows.length, 2);
      for (const { text } of rows) assert.ok(!text.includes(Buffer.from(THOUGHT).toString('hex')));
    });
  }

  it('go back as they came in a run that resumes one whose agent has failed', async () => {
    let isRefused = true;
    const { data, node, requests } = draw(({ messages }) => {
      if (messages.length === 1) return { message };
      return isRefused ? { status: 400 } : { text: 'noted' };
    });
    const failed = await api.runToEnd(data);
    assert.equal(failed.nodes[node.id]!.error!.code, 'provider_error');
    isRefused = false;
    const history = `/workflows/${failed.workflowId}/history/${failed.runId}`;
    const resumed = await api.post<{ data: { id: string } }>(`${history}/resume/`, { body: {} });
    const end = await api.pollToEnd(resumed.body.data.id);
    assert.equal(end.data.data![node.id]!.result!.content, 'noted');
    assert.deepEqual(requests().at(-1)!.messages[1], message);
  });

  it('may have two calls at one index, without ids, or with one id for both', async () => {
    const piece = (fields: object): ModelAnswer['parts'] => {
      const choices = [{ index: 0, delta: { tool_calls: [fields] }, finish_reason: null }];
      return [{ raw: `data: ${JSON.stringify({ choices })}\n\n` }];
    };
    const pieceOf = (a: number, id: unknown) =>
      piece({ index: 0, ...toolCall(id, 'add', JSON.stringify({ a, b: 0 })) }) ?? [];
    const streamed = (one: unknown, other: unknown): ModelAnswer => ({
      parts: [...pieceOf(1, one), ...pieceOf(2, other)],
    });
    const whole = (one: unknown, other: unknown): ModelAnswer => ({
      streams: false,
      message: { tool_calls: [toolCall(one, 'add', '{"a": 1, "b": 0}'), toolCall(other, 'add', '{"a": 2, "b": 0}')] },
    });
    const answers = [streamed('call_a', 'call_b'), streamed('', null), whole('x', 'x'), whole(7, undefined)];
    for (const [at, answer] of answers.entries()) {
      const { data, node, requests } = draw([answer, { text: 'done' }]);
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.result?.content, 'done', JSON.stringify(run.nodes));
      assert.deepEqual(
        tools
          .callsOf('add')
          .slice(2 * at)
          .map(({ arguments: given }) => Number(given['a']))
          .toSorted((left, right) => left - right),
        [1, 2],
      );
      const [, said, ...told] = requests()[1]!.messages as unknown as { tool_calls: Call[]; tool_call_id: unknown }[];
      const ids = said!.tool_calls.map(({ id }) => id);
      assert.deepEqual(
        told.map(({ tool_call_id: id }) => id),
        ids,
      );
      assert.equal(new Set(ids).size, 2);
      if (at === 0) assert.deepEqual(ids, ['call_a', 'call_b']);
      else for (const id of ids.filter((each) => each !== 'x')) assert.match(String(id), /^[A-Za-z0-9]{9}$/);
    }
  });

  it('may have arguments that are an object, nothing, or broken, of which the model is told', async () => {
    const given: [written: unknown, goesBack: string, told: string][] = [
      [{ text: 'whole' }, '{"text":"whole"}', 'noted: whole'],
      ["{'text': 'x'}", '{}', 'The arguments are not a JSON object.'],
      ['{"text": "x', '{}', 'The arguments are not a JSON object.'],
      ['[]', '{}', 'The arguments are not a JSON object.'],
      ['null', '{}', 'The arguments are not a JSON object.'],
    ];
    for (const streams of [false, true]) {
      const noted = given.map(([written], at) => toolCall(`call_${at}`, 'note', written));
      const failing = [null, undefined, '', ' \n'].map((written, at) => toolCall(`fail_${at}`, 'fail', written));
      const { data, node, requests } = draw([
        { message: { tool_calls: [...noted, ...failing] }, streams },
        { text: 'done' },
      ]);
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.result?.content, 'done', JSON.stringify(run.nodes));
      const [, said, ...told] = requests()[1]!.messages as unknown as { tool_calls: Call[]; content: string }[];
      assert.deepEqual(
        said!.tool_calls.map(({ function: { arguments: written } }) => written),
        [...given.map(([, goesBack]) => goesBack), '{}', '{}', '{}', '{}'],
      );
      assert.deepEqual(
        told.map(({ content }) => content),
        [...given.map(([, , answer]) => answer), ...failing.map(() => 'it went wrong')],
      );
    }
    assert.deepEqual(
      tools.calls.map(({ tool, arguments: written }) => [tool, written]).filter(([tool]) => tool === 'note'),
      [
        ['note', { text: 'whole' }],
        ['note', { text: 'whole' }],
      ],
    );
    assert.equal(tools.callsOf('fail').length, 8);
  });

  it('cannot have a content that is neither text nor list: the call is paid for', async () => {
    for (const content of [{ type: 'text', text: 'x' }, 7]) {
      const { data, node, requests } = draw([{ message: { content }, streams: false }]);
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.error?.code, 'invalid_response', JSON.stringify(content));
      assert.equal(requests().length, 1);
      assert.equal((await api.history(run.workflowId, run.runId)).cost['USD'], '0.00002');
    }
  });

  it('lack a field that their provider has refused, in the call that is repeated and in each later one', async () => {
    const refuse = ({ messages }: ModelRequest): ModelAnswer => {
      const said = messages.find(({ role }) => role === 'assistant');
      if (said === undefined) return { message };
      if (!('reasoning_content' in said)) return { text: 'noted' };
      const refusal = "property 'reasoning_content' is unsupported";
      return {
        status: 400,
        error: {
          message: `'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : ${refusal})]`,
        },
      };
    };
    const { data, node, requests } = draw(refuse);
    const { reasoning_content: _refused, ...accepted } = message;
    const sent = () => requests().flatMap(({ messages }) => messages.slice(1, 2));
    const run = await api.runToEnd(data);
    assert.equal(run.nodes[node.id]!.result?.content, 'noted', JSON.stringify(run.nodes));
    assert.deepEqual(sent(), [message, accepted]);
    assert.equal((await api.history(run.workflowId, run.runId)).cost['USD'], '0.00004');
    await api.runToEnd(data);
    assert.deepEqual(sent(), [message, accepted, accepted]);
  });
});
