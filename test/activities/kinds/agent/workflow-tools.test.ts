// Workflows as tools of an agent (docs/use/nodes.md, "Agents").
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  createApiClient,
  type ApiClient,
  type Envelope,
  type RunRecord,
} from '../../../../harness/client/api-client.js';
import { openEventStream } from '../../../support/event-stream.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import type { ModelAnswer } from '../../../../harness/target/fake-model-provider.js';
import {
  drawing,
  http,
  linkInRow,
  llm,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../../harness/target/http-target.js';
import { historyOf, queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { approvalsOf } from '../../../support/agents.js';
import { startToolServer, type ToolServer } from '../../../../harness/target/tool-server.js';
import { callBack, callbackUrlOf, untilWaiting } from '../../../support/waiting.js';

interface ToolCall {
  server_label: string | null;
  tool_name: string;
  outcome: string | null;
  answer: string | null;
  run_id: string | null;
  started_at: string | null;
}

interface ChildRow {
  id: string;
  status: string;
  path: string;
}

const FIELDS = [
  { id: 'city', title: 'City', tooltip: 'In English', input_requirements: true },
  { id: 'days', type: 'number' },
  { id: 'unit', type: 'select', options: [{ value: 'C' }, { value: 'F' }] },
  { id: 'key', is_secret: true, default_value: 'weather-key-51c0' },
];

describe('workflows as tools of an agent', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let tools: ToolServer;
  let target: HttpTarget;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [tools, target] = await Promise.all([startToolServer(), startHttpTarget()]);
    project = await api.createProject();
  });
  after(() => Promise.all([tools.close(), target.close()]));

  const workflowOf = (nodes: DrawingNode[], fields: object[] = [], title?: string): Promise<number> =>
    api.createWorkflow(project, drawing(linkInRow([trigger(fields as Record<string, unknown>[]), ...nodes])), title);

  const asks = (name: string, ...all: (object | string)[]): ModelAnswer => ({
    toolCalls: all.map((given) => ({ name, arguments: given })),
  });

  function agentWith(given: object[], answers: ModelAnswer[], settings: object = {}, data: object = {}) {
    const model = `workflow-tools-${randomUUID()}`;
    stack.modelProvider.script(model, answers);
    const work = node('agent', {
      messages: [{ role: 'user', message: 'Work' }],
      settings: { model_name: model, ...settings },
      tools: given.map((tool) => ({ type: 'workflow', require_approval: 'never', ...tool })),
      ...data,
    });
    return { model, work };
  }

  async function start(nodes: DrawingNode[], input: unknown = {}, fields: object[] = []) {
    const workflowId = await workflowOf(nodes, fields);
    const { status, data } = await api.run(workflowId, input);
    assert.equal(status, 201, JSON.stringify(data));
    return { workflowId, runId: data.id };
  }

  async function runToEnd(nodes: DrawingNode[], input: unknown = {}, fields: object[] = []) {
    const started = await start(nodes, input, fields);
    const end: Envelope = await api.pollToEnd(started.runId);
    return { ...started, end };
  }

  const answersTo = (model: string, request = -1): string[] =>
    stack.modelProvider
      .requestsFor(model)
      .at(request)!
      .messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => String(content));

  const childrenOf = (runId: string): Promise<ChildRow[]> =>
    queryDatabase<ChildRow>(
      stack,
      'SELECT id, status, parent_path AS path FROM runs WHERE parent_run_id = $1 ORDER BY created_at',
      [runId],
    );

  async function callsOf({ workflowId, runId }: { workflowId: number; runId: string }, of: DrawingNode) {
    const { body } = await api.get<{ items: { tool_calls: ToolCall[] }[] }>(
      `/workflows/${workflowId}/history/${runId}/nodes/${of.id}/steps/`,
    );
    return body.items.flatMap(({ tool_calls: calls }) => calls);
  }

  const echo = () => node('output', { value: { got: '{{ input.city }}', days: '{{ input.days }}' } });

  it('are offered with the fields of the trigger, and answer with the output of a run of their own', async () => {
    const child = await workflowOf([echo()], FIELDS, 'Weather of a city!');
    const { model, work } = agentWith(
      [{ workflow_id: child }],
      [asks('Weather_of_a_city_', { city: 'Oslo', days: 3 }), { text: 'Sunny' }],
    );
    const run = await runToEnd([work]);
    assert.equal(run.end.data.status, 'succeed', JSON.stringify(run.end.data));
    assert.equal(run.end.data.data![work.id]!.result!.content, 'Sunny');
    // The step that waits for a run is scheduled twice, but this counts as one attempt because no worker was lost.
    const attempts = await queryDatabase(stack, 'SELECT error_code FROM node_attempts WHERE run_id = $1', [run.runId]);
    const [{ made }] = (await queryDatabase(
      stack,
      'SELECT max(attempts)::integer AS made FROM node_results WHERE run_id = $1',
      [run.runId],
    )) as [{ made: number }];
    assert.deepEqual([attempts, made], [[], 1]);
    const [offered] = stack.modelProvider.requestsFor(model)[0]!.body['tools'] as { function: object }[];
    assert.deepEqual(offered!.function, {
      name: 'Weather_of_a_city_',
      description: 'Runs the workflow "Weather of a city!" and returns what it puts out.',
      parameters: {
        type: 'object',
        properties: {
          city: { type: 'string', description: 'City. In English' },
          days: { type: 'number' },
          unit: { enum: ['C', 'F'] },
        },
        required: ['city'],
      },
    });
    assert.deepEqual(answersTo(model), ['{"got":"Oslo","days":3}']);
    const [row, ...more] = await childrenOf(run.runId);
    assert.deepEqual([row!.status, more], ['Succeeded', []]);
    assert.equal((await transactionsOf(stack, row!.id)).length, 2);
    assert.equal((await transactionsOf(stack, run.runId)).length, 2);
    const [call] = await callsOf(run, work);
    assert.deepEqual(
      [call!.server_label, call!.tool_name, call!.outcome, call!.run_id],
      ['', 'Weather_of_a_city_', 'result', row!.id],
    );
    assert.ok(call!.started_at !== null);
    const { body: record } = await api.get<RunRecord>(`/runs/${row!.id}/`);
    assert.deepEqual([record['parent_run_id'], record['parent_node_id']], [run.runId, work.id]);
    const history = await historyOf(stack, run.runId);
    assert.equal(history.filter(({ type }) => type === 'startChildWorkflowExecutionInitiated').length, 1);
  });

  it('run side by side, beside tools of servers, and each call has its own answer', async () => {
    const child = await workflowOf([node('wait', { seconds: 0.3 }), echo()], FIELDS);
    const { model, work } = agentWith(
      [
        { workflow_id: child, name: 'look', description: 'Looks' },
        { workflow_id: child, name: 'look' },
        { type: 'mcp', server_label: 'sums', transport: 'streamable_http', endpoint_url: tools.url },
      ],
      [
        {
          toolCalls: [
            { name: 'look', arguments: { city: 'A' } },
            { name: 'add', arguments: { a: 1, b: 2 } },
            { name: 'look_2', arguments: { city: 'B' } },
            ...Array.from({ length: 10 }, (_, at) => ({ name: 'look', arguments: { city: `C${at}` } })),
          ],
        },
        asks('look', { city: 'later' }),
        { text: 'done' },
      ],
    );
    const run = await runToEnd([work]);
    assert.equal(run.end.data.status, 'succeed', JSON.stringify(run.end.data));
    const got = (city: string) => JSON.stringify({ got: city, days: '' });
    const tens = Array.from({ length: 10 }, (_, at) => got(`C${at}`));
    assert.deepEqual(answersTo(model, 1), [got('A'), '3', got('B'), ...tens]);
    assert.deepEqual(answersTo(model, 2).at(-1), got('later'));
    assert.equal((await childrenOf(run.runId)).length, 13);
    const calls = await callsOf(run, work);
    assert.equal(new Set(calls.map(({ run_id: id }) => id)).size, 14, 'thirteen runs, and null for the sum');
  });

  it('may have large drawings, several of them at once', async () => {
    const large = () => workflowOf([node('set', { value: 'x'.repeat(1_500_000), next_nodes: [] }), echo()], FIELDS);
    const { model, work } = agentWith(
      [
        { workflow_id: await large(), name: 'one' },
        { workflow_id: await large(), name: 'two' },
      ],
      [
        { toolCalls: ['one', 'two', 'one', 'two'].map((name) => ({ name, arguments: { city: name } })) },
        { text: 'done' },
      ],
    );
    const run = await runToEnd([work]);
    assert.equal(run.end.data.data![work.id]!.result!.content, 'done', JSON.stringify(run.end.data).slice(0, 500));
    assert.equal(answersTo(model).length, 4);
  });

  it('are waited for without holding anything, and the poll tells of the run', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const child = await workflowOf([pause, node('output', { value: resultOf(pause) })]);
    const { model, work } = agentWith([{ workflow_id: child, name: 'ask' }], [asks('ask', {}, {}), { text: 'done' }]);
    const { runId } = await start([work]);
    const { waiting } = await untilWaiting(api, runId, work.id);
    const rows = await eventually(async () => {
      const found = await childrenOf(runId);
      assert.equal(found.length, 2);
      return found;
    });
    assert.equal(waiting!.for, 'child');
    assert.ok(rows.some(({ id }) => id === (waiting as { run_id?: string }).run_id));
    const before = await api.poll(runId);
    const [first, second] = rows;
    await callBack(await callbackUrlOf(api, first!.id, pause.id), 'said');
    await eventually(async () => {
      const { version, data } = (await api.poll(runId)).data as { version: number; data: Envelope['data']['data'] };
      const { waiting: rest } = data![work.id] as { waiting?: { run_id?: string } };
      return rest?.run_id === second!.id && version > (before.data as { version: number }).version;
    });
    await callBack(await callbackUrlOf(api, second!.id, pause.id), 'said');
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    const stream = await openEventStream(stack.apiUrl, stack.apiKey, runId, { lastEventId: 0 });
    await stream.ended;
    const ofAgent = stream.events.filter(({ event, data }) => event === 'node' && data.id === work.id);
    assert.deepEqual(
      ofAgent.map(({ data }) => data.status),
      [...Array<string>(4).fill('in progress'), 'succeed'],
      'the start and the end of each run, and its own end',
    );
    assert.deepEqual(answersTo(model), ['said', 'said']);
  });

  it('tell the model why a run cannot be, has failed or was cancelled', async () => {
    const failing = await workflowOf([http('http://localhost:1/nothing', { retry: { max_attempts: 1 } })]);
    const gone = await workflowOf([echo()]);
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const waits = await workflowOf([pause]);
    const { model, work } = agentWith(
      [
        { workflow_id: failing, name: 'failing' },
        { workflow_id: await workflowOf([echo()], FIELDS), name: 'needy' },
        { workflow_id: gone, name: 'gone' },
        { workflow_id: waits, name: 'waits' },
      ],
      [
        asks('failing', {}),
        asks('needy', { days: 1 }),
        asks('needy', '[1]'),
        asks('waits', {}),
        asks('gone', {}),
        { text: 'done' },
      ],
    );
    const { runId, workflowId } = await start([work]);
    const waiting = await eventually(async () => (await childrenOf(runId))[1]?.id, { timeoutMs: 30_000 });
    await untilWaiting(api, waiting, pause.id);
    await api.delete(`/workflows/${gone}/`);
    await api.post(`/workflows/${waits}/history/${waiting}/cancel/`);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    const [failed, missing, noObject, cancelled, archived] = answersTo(model);
    assert.match(failed!, /^The run \S+ of the sub-workflow failed: /);
    assert.match(missing!, /city: Field required/);
    assert.match(noObject!, /not a JSON object/);
    assert.match(cancelled!, /was cancelled/);
    assert.match(archived!, /has no workflow/);
    const outcomes = (await callsOf({ workflowId, runId }, work)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['tool_error', 'tool_error', 'invalid', 'tool_error', 'tool_error']);
  });

  it('fail the agent before its first turn where there is no such workflow, and checks warn', async () => {
    const foreign = await api.createWorkflow(await api.createProject(), drawing([trigger()]));
    const { work } = agentWith([{ workflow_id: foreign }], [{ text: 'never' }]);
    const run = await runToEnd([work]);
    assert.equal(run.end.data.data![work.id]!.error!.code, 'workflow_not_found');
    const check = await api.get<{ warnings: { code: string; node_id: string }[] }>(
      `/workflows/${run.workflowId}/check_workflow/`,
    );
    assert.deepEqual(
      check.body.warnings.map(({ code, node_id: of }) => [code, of]),
      [['unknown_workflow', work.id]],
    );
  });

  it('wait for approvals, and run with what a person has put in the place of the arguments', async () => {
    const child = await workflowOf([echo()], FIELDS);
    const tool = { workflow_id: child, name: 'look', require_approval: undefined };
    const { model, work } = agentWith([tool], [asks('look', { city: 'Oslo' }), { text: 'done' }]);
    const { runId } = await start([work]);
    const [request] = await approvalsOf(api, runId, work.id);
    assert.deepEqual([request!.server_label, request!.tool_name], ['', 'look']);
    assert.deepEqual(await childrenOf(runId), [], 'nothing runs before it is approved');
    const approve = (body: object) =>
      api.post(`/workflows/workflow_run/${runId}/agent-approval/${request!.request_id}/approve/`, { body });
    const wrong = await approve({ arguments: { days: 'many' } });
    assert.equal(wrong.status, 400, JSON.stringify(wrong.body));
    await approve({ arguments: { city: 'Bergen', days: 2 } });
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.match(answersTo(model)[0]!, /A person has changed .*Bergen[^]*\{"got":"Bergen","days":2\}/);
    assert.equal((await childrenOf(runId)).length, 1);
  });

  it('are cancelled with the agent', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const child = await workflowOf([pause]);
    const { work } = agentWith([{ workflow_id: child, name: 'ask' }], [asks('ask', {}, {}), { text: 'never' }]);
    const { runId, workflowId } = await start([work]);
    await untilWaiting(api, runId, work.id);
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    for (const { id } of await childrenOf(runId)) await api.pollToEnd(id, { timeoutMs: 30_000, intervalMs: 100 });
    assert.deepEqual(
      (await childrenOf(runId)).map(({ status }) => status),
      ['Cancelled', 'Cancelled'],
    );
  });

  it('belong to the iteration of the agent', async () => {
    const child = await workflowOf([echo()], FIELDS);
    const { work } = agentWith(
      [{ workflow_id: child, name: 'look' }],
      [asks('look', { city: 'Oslo' }), { text: 'x' }],
      {},
      { next_nodes: [] },
    );
    // Chooses the answer by the conversation, because the two iterations call the model at once.
    stack.modelProvider.script((work.data['settings'] as { model_name: string }).model_name, ({ messages }) =>
      messages.some(({ role }) => role === 'tool') ? { text: 'x' } : asks('look', { city: 'Oslo' }),
    );
    const loop = node('for_each', { items: [1, 2], body_node: work.id, next_nodes: [] });
    const begin = trigger();
    begin.data.next_nodes = [loop.id];
    const workflowId = await api.createWorkflow(project, drawing([begin, loop, work]));
    const { data } = await api.run(workflowId);
    assert.equal((await api.pollToEnd(data.id)).data.status, 'succeed');
    const paths = (await childrenOf(data.id)).map(({ path }) => path).toSorted();
    assert.deepEqual(paths, [`${loop.id}[0]`, `${loop.id}[1]`]);
  });

  it('hand on secrets in both directions, and every reader sees them masked', async () => {
    const [secretIn, secretOut] = [`in-${randomUUID()}`, `out-${randomUUID()}`];
    const output = node('output', { value: { mine: '{{ input.own }}', yours: '{{ input.given }}' } });
    const child = await workflowOf(
      [output],
      [{ id: 'own', is_secret: true, default_value: secretOut }, { id: 'given' }],
    );
    const { model, work } = agentWith([{ workflow_id: child, name: 'look' }], []);
    stack.modelProvider.script(model, ({ messages }) => {
      const told = messages.find(({ role }) => role === 'tool');
      return told === undefined ? asks('look', { given: secretIn }) : { text: `Found ${String(told.content)}` };
    });
    const send = http(`${target.url}/tools`, { method: 'POST', body: { copy: resultOf(work) } });
    const run = await runToEnd([work, send], { token: secretIn }, [{ id: 'token', is_secret: true }]);
    assert.equal(run.end.data.status, 'succeed', JSON.stringify(run.end.data));
    const [told] = target.requestsTo('/tools');
    assert.ok(told!.body.includes(secretIn) && told!.body.includes(secretOut), 'later nodes get the values');
    const [row] = await childrenOf(run.runId);
    const pages = await Promise.all([
      api.poll(run.runId),
      api.poll(row!.id),
      callsOf(run, work),
      api.get(`/workflows/${run.workflowId}/history/${run.runId}/nodes/${work.id}/`),
      api.get(`/workflows/${child}/history/${row!.id}/nodes/${output.id}/`),
    ]);
    const stored = await queryDatabase(
      stack,
      `SELECT coalesce(result::text, '') AS text FROM node_results WHERE run_id = ANY ($1)
        UNION ALL SELECT input::text FROM runs WHERE id = ANY ($1)`,
      [[run.runId, row!.id]],
    );
    for (const page of [...pages, stored]) {
      for (const secret of [secretIn, secretOut])
        assert.ok(!JSON.stringify(page).includes(secret), `${secret} is told`);
    }
  });

  it('count for the max_cost of the agent', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const child = await workflowOf([pause]);
    const answers = [asks('look', {}), { text: 'never' }];
    const { model, work } = agentWith([{ workflow_id: child, name: 'look' }], answers, { max_cost: 10 });
    const { runId } = await start([work]);
    await untilWaiting(api, runId, work.id);
    const [row] = await childrenOf(runId);
    const url = await callbackUrlOf(api, row!.id, pause.id);
    await queryDatabase(stack, `UPDATE billing_transactions SET amount_usd = 10 WHERE run_id = $1`, [row!.id]);
    await callBack(url, 'done');
    const { error } = (await api.pollToEnd(runId)).data.data![work.id]!;
    assert.equal(error!.code, 'budget_exceeded');
    assert.equal(stack.modelProvider.requestsFor(model).length, 1);
  });

  for (const [of, settings, maxRunCost] of [
    ['the agent', { max_cost: 0.1 }, null],
    ['the workflow that is the tool', {}, '0.1'],
  ] as const) {
    it(`end the agent with budget_exceeded where a limit of ${of} stops their run`, async () => {
      const asking = llm('x', { settings: { model_name: `tool-${randomUUID()}`, max_tokens: 1_000_000 } });
      const child = await workflowOf([asking]);
      assert.equal((await api.patch(`/workflows/${child}/`, { body: { max_run_cost: maxRunCost } })).status, 200);
      const answers = [asks('look', {}), asks('look', {}), { text: 'never' }];
      const { model, work } = agentWith([{ workflow_id: child, name: 'look' }], answers, {
        max_tokens: 5,
        ...settings,
      });
      const run = await runToEnd([work]);
      const { error } = run.end.data.data![work.id]!;
      assert.equal(error!.code, 'budget_exceeded', JSON.stringify(run.end.data));
      const [row, ...more] = await childrenOf(run.runId);
      assert.deepEqual([row!.status, more], ['Error', []]);
      assert.match(
        error!.message,
        new RegExp(`^A limit of money has stopped the run ${row!.id} of a tool: .*was not made`),
      );
      assert.equal(stack.modelProvider.requestsFor(model).length, 1);
    });
  }

  it('are refused as a drawing where they make no sense', async () => {
    for (const [tool, field] of [
      [{ type: 'other' }, 'tools.0.type'],
      [{ workflow_id: 'x' }, 'tools.0.workflow_id'],
      [{ workflow_id: 1, name: 'not a name' }, 'tools.0.name'],
      [{ workflow_id: 1, require_approval: 'perhaps' }, 'tools.0.require_approval'],
      [{ workflow_id: 1, description: 3 }, 'tools.0.description'],
    ] as const) {
      const { work } = agentWith([tool], []);
      const answer = await api.run(await workflowOf([work]));
      assert.equal(answer.status, 422, JSON.stringify(tool));
      assert.ok(JSON.stringify(answer).includes(field), JSON.stringify(answer));
    }
  });
});
