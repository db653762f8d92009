import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type ApprovalRequest } from '../../../../harness/client/api-client.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import type { Drawing } from '../../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../../harness/target/http-target.js';
import { historyOf, queryDatabase, transactionsOf, withTemporal } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import {
  approvalsOf,
  decide,
  drawAgent,
  scriptModel,
  type AgentSettings,
  type Answers,
  type DrawnAgent,
} from '../../../support/agents.js';
import { startToolServer, type ToolServer } from '../../../../harness/target/tool-server.js';

describe('agent node', function () {
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

  const scripted = (answers: Answers): string => scriptModel(stack, answers);
  const draw = (model: string, server: Partial<AgentSettings['server']> = {}, settings = {}): DrawnAgent =>
    drawAgent(model, {
      server: { endpoint_url: tools.url, ...server },
      settings,
      message: 'Work on {{ input.topic }}',
    });

  async function startRun(data: Drawing, input: object = { topic: 'sums' }) {
    const workflowId = await api.createWorkflow(await api.createProject(), data);
    const started = await api.run(workflowId, input);
    assert.equal(started.status, 201, JSON.stringify(started));
    return { workflowId, runId: started.data.id };
  }

  it('sends each turn by an Idempotency-Key of its own, and a repeated turn by the same', async () => {
    const model = scripted([
      { toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] },
      { status: 503 },
      { text: '5' },
    ]);
    const { data, node } = draw(model);
    const { runId } = await startRun(data);
    await api.pollToEnd(runId);
    assert.deepEqual(
      stack.modelProvider.requestsFor(model).map(({ headers }) => headers['idempotency-key']),
      [0, 1, 1].map((turn) => `${runId}/${node.id}/${turn}`),
    );
  });

  it('calls tools until the model has an answer, and bills every model call once', async () => {
    const model = scripted([
      {
        toolCalls: [
          { name: 'add', arguments: { a: 2, b: 3 } },
          { name: 'note', arguments: { text: 'hi' } },
        ],
      },
      { toolCalls: [{ name: 'add', arguments: { a: 5, b: 10 } }] },
      { text: 'The sum is 15.' },
    ]);
    const { data, node } = draw(model);
    const run = await api.runToEnd(data, { topic: 'sums' });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    const { content: final, steps, usage } = run.nodes[node.id]!.result!;
    assert.equal(final, 'The sum is 15.');
    assert.deepEqual(usage, { prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
    const call = (tool_name: string) => ({ server_label: 'tools', tool_name, outcome: 'result' });
    assert.deepEqual(steps, [
      { iteration: 1, tool_calls: [call('add'), call('note')] },
      { iteration: 2, tool_calls: [call('add')] },
      { iteration: 3, tool_calls: [] },
    ]);
    assert.deepEqual(tools.calls.map(({ tool }) => tool).toSorted(), ['add', 'add', 'note']);
    const requests = stack.modelProvider.requestsFor(model);
    assert.equal(requests.length, 3);
    assert.deepEqual(
      (requests[0]!.body['tools'] as { function: { name: string } }[]).map((tool) => tool.function.name),
      ['add', 'slow', 'fail', 'note'],
    );
    assert.deepEqual(requests[0]!.messages, [{ role: 'user', content: 'Work on sums' }]);
    assert.deepEqual(
      requests[2]!.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'Work on sums'],
        ['assistant', null],
        ['tool', '5'],
        ['tool', 'noted: hi'],
        ['assistant', null],
        ['tool', '15'],
      ],
    );
    const paid = (await transactionsOf(stack, run.runId)).find(({ node_id }) => node_id === node.id)!;
    assert.equal(paid.operation, 'agent');
    assert.equal(paid.amount_usd, '0.00006');
    assert.equal((await api.history(run.workflowId, run.runId)).cost['USD'], '0.00006');
  });

  it('tells the model of tool errors, unknown tools and broken arguments, and goes on', async () => {
    const model = scripted([
      {
        toolCalls: [
          { name: 'fail', arguments: {} },
          { name: 'nowhere', arguments: {} },
          { name: 'add', arguments: '{"a":' },
        ],
      },
      { text: 'done' },
    ]);
    const { data, node } = draw(model);
    const run = await api.runToEnd(data);
    assert.equal(run.nodes[node.id]!.result!.content, 'done');
    const told = stack.modelProvider
      .requestsFor(model)[1]!
      .messages.filter(({ role }) => role === 'tool')
      .map(({ content }) => content);
    assert.deepEqual(told, ['it went wrong', 'There is no tool of this name.', 'The arguments are not a JSON object.']);
  });

  it('offers only the allowed tools', async () => {
    const model = scripted([{ toolCalls: [{ name: 'note', arguments: { text: 'x' } }] }, { text: 'ok' }]);
    const { data } = draw(model, { allowed_tools: ['add'] });
    await api.runToEnd(data);
    const offered = stack.modelProvider.requestsFor(model)[0]!.body['tools'] as { function: { name: string } }[];
    assert.deepEqual(
      offered.map((tool) => tool.function.name),
      ['add'],
    );
    assert.equal(tools.calls.length, 0);
  });

  it('gives up after max_iterations model calls and bills them', async () => {
    const model = scripted(() => ({ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }));
    const { data, node } = draw(model, {}, { max_iterations: 3 });
    const run = await api.runToEnd(data);
    assert.equal(run.nodes[node.id]!.error!.code, 'max_iterations');
    assert.equal(stack.modelProvider.requestsFor(model).length, 3);
    assert.equal((await api.history(run.workflowId, run.runId)).cost['USD'], '0.00006');
  });

  it('attempts the model call of a turn five times, or as often as its retry says, and makes no turn before it again', async () => {
    for (const [retry, attempts, failing] of [
      [{ delay: 0 }, 5, { status: 503 }],
      [{ delay: 0 }, 5, { reset: true }],
      [{ delay: 0, max_attempts: 2 }, 2, { status: 503 }],
    ] as const) {
      const called = tools.calls.length;
      const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 2, b: 3 } }] }, failing]);
      const { data, node } = draw(model);
      node.data['retry'] = retry;
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.status, 'failed');
      assert.deepEqual(
        stack.modelProvider.requestsFor(model).map(({ headers }) => headers['idempotency-key']),
        [0, ...Array<number>(attempts).fill(1)].map((turn) => `${run.runId}/${node.id}/${turn}`),
      );
      assert.equal(tools.calls.length - called, 1);
    }
  });

  it('takes no message with more than 128 tool calls, and makes none of them', async () => {
    const call = { name: 'add', arguments: { a: 1, b: 1 } };
    const model = scripted(() => ({ toolCalls: Array.from({ length: 129 }, () => call) }));
    const { data, node } = draw(model);
    const run = await api.runToEnd(data);
    assert.equal(run.nodes[node.id]!.error!.code, 'invalid_response');
    assert.deepEqual([stack.modelProvider.requestsFor(model).length, tools.calls.length], [1, 0]);
  });

  it('waits for an approval that it shows, and makes exactly the call that was shown', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 20, b: 22 } }] }, { text: '42' }]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const { runId, workflowId } = await startRun(data);
    const [request] = await approvalsOf(api, runId, node.id);
    assert.equal(request!.server_label, 'tools');
    assert.equal(request!.tool_name, 'add');
    assert.deepEqual(request!.arguments, { a: 20, b: 22 });
    assert.equal(request!.status, 'pending');
    assert.equal(tools.calls.length, 0);
    // The poll shows the request as soon as it is stored; the run workflow records it in its next task.
    await eventually(async () => {
      const described = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
      assert.deepEqual(described.searchAttributes['RunState'], ['approval']);
      return true;
    });
    const listed = await api.get<(ApprovalRequest & { path: string })[]>(
      `/workflows/workflow_run/${runId}/agent-approval/`,
    );
    assert.deepEqual(
      listed.body.map(({ request_id, path }) => [request_id, path]),
      [[request!.request_id, '']],
    );
    const mine = await api.get<{ items: (ApprovalRequest & { run_id: string; path: string })[] }>(
      '/agent-approvals/?status=pending&size=100',
    );
    assert.equal(mine.body.items.find(({ run_id }) => run_id === runId)?.path, '');

    const answer = await decide(api, runId, request!.request_id, 'approve', { reason: 'fine' });
    assert.deepEqual(answer.body, {
      status: 200,
      data: { id: runId, request_id: request!.request_id, decision: 'approved', status: 'in progress' },
    });
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.result!.content, '42');
    assert.deepEqual(
      tools.callsOf('add').map((call) => call.arguments),
      [{ a: 20, b: 22 }],
    );
    assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00004');
    const again = await decide(api, runId, request!.request_id, 'approve');
    assert.equal(again.body.status, 200);
    const opposite = await decide(api, runId, request!.request_id, 'reject');
    assert.equal(opposite.status, 200);
    assert.equal(opposite.body.status, 409);
    assert.equal(typeof opposite.body.data['detail'], 'string');
    assert.equal((await decide(api, runId, '%00', 'approve')).status, 404);
    const unknown = await decide(api, runId, 'no-such-request', 'approve');
    assert.deepEqual([unknown.status, unknown.body.status], [200, 404]);
    const stranger = await decide(api, '00000000-0000-4000-8000-000000000000', request!.request_id, 'approve');
    assert.equal(stranger.status, 404);
  });

  it('tells the webhook of its project that a run waits for an approval', async () => {
    const receiver = await startHttpTarget();
    try {
      const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'ok' }]);
      const { data, node } = draw(model, { require_approval: 'always' });
      const hook = { webhook_url: `${receiver.url}/hook`, is_webhook_enabled: true };
      const project = await api.post<{ id: number }>('/projects/', { body: { name: 'with a webhook', ...hook } });
      const workflowId = await api.createWorkflow(project.body.id, data);
      const runId = (await api.run(workflowId)).data.id;
      const [request] = await approvalsOf(api, runId, node.id);
      const types = () => receiver.requestsTo('/hook').map(({ body }) => (JSON.parse(body) as { type: string }).type);
      await eventually(() => types().includes('agent_approval.requested'));
      await decide(api, runId, request!.request_id, 'approve');
      await api.pollToEnd(runId);
      await eventually(() => types().includes('workflow_run.succeeded'));
      assert.deepEqual(types(), ['workflow_run.started', 'agent_approval.requested', 'workflow_run.succeeded']);
    } finally {
      await receiver.close();
    }
  });

  it('asks by tool: what `never` names is called at once', async () => {
    const policy = { always: { tool_names: ['note'] }, never: { tool_names: ['add'] } };
    const model = scripted([
      { toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] },
      {
        toolCalls: [
          { name: 'note', arguments: { text: 'x' } },
          { name: 'slow', arguments: { ms: 1 } },
        ],
      },
      { text: 'ok' },
    ]);
    const { data, node } = draw(model, { require_approval: policy });
    const { runId } = await startRun(data);
    const requests = await approvalsOf(api, runId, node.id, 2);
    assert.deepEqual(
      requests.map(({ tool_name }) => tool_name),
      ['note', 'slow'],
    );
    assert.equal(tools.callsOf('add').length, 1);
    await decide(api, runId, requests[0]!.request_id, 'approve');
    assert.deepEqual(
      (await approvalsOf(api, runId, node.id, 1)).map(({ tool_name }) => tool_name),
      ['slow'],
    );
    assert.equal(tools.callsOf('note').length, 0, 'nothing is called before all are decided');
    await decide(api, runId, requests[1]!.request_id, 'reject', { reason: 'too slow' });
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.equal(tools.callsOf('note').length, 1);
    assert.equal(tools.callsOf('slow').length, 0);
    const told = stack.modelProvider.requestsFor(model)[2]!.messages.at(-1)!.content;
    assert.match(String(told), /rejected.*too slow/s);
  });

  it('fails the node on a rejection with on_reject fail', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }]);
    const { data, node } = draw(model, { require_approval: 'always' }, { on_reject: 'fail' });
    const { runId, workflowId } = await startRun(data);
    const [request] = await approvalsOf(api, runId, node.id);
    await decide(api, runId, request!.request_id, 'reject', { reason: 'no' });
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.error!.code, 'approval_rejected');
    assert.equal(tools.calls.length, 0);
    assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00002', 'the turn that asked was paid for');
  });

  it('takes expiry as a rejection, and answers a late decision with 409', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'went on' }]);
    const { data, node } = draw(model, { require_approval: 'always' }, { approval_timeout: 0.5 });
    const { runId } = await startRun(data);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.result!.content, 'went on');
    assert.equal(tools.calls.length, 0);
    const list = `/workflows/workflow_run/${runId}/agent-approval/`;
    const [request] = (await api.get<ApprovalRequest[]>(list)).body;
    const late = await decide(api, runId, request!.request_id, 'approve');
    assert.deepEqual([late.status, late.body.status], [200, 409]);
    const [row] = (await api.get<ApprovalRequest[]>(list)).body;
    assert.equal(row!.status, 'expired');
  });

  it('lets exactly one of 50 concurrent decisions win, and the run sees one', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'ok' }]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const { runId } = await startRun(data);
    const [request] = await approvalsOf(api, runId, node.id);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        decide(api, runId, request!.request_id, index % 2 === 0 ? 'approve' : 'reject'),
      ),
    );
    const inner = answers.map(({ body }) => body.status);
    assert.equal(inner.filter((status) => status === 200).length, 25);
    assert.equal(inner.filter((status) => status === 409).length, 25);
    const decisions = new Set(
      answers.filter(({ body }) => body.status === 200).map(({ body }) => body.data['decision']),
    );
    assert.equal(decisions.size, 1);
    await api.pollToEnd(runId);
    const signals = (await historyOf(stack, runId)).filter(({ type }) => type === 'workflowExecutionSignaled');
    assert.equal(signals.length, 1);
    assert.equal(tools.calls.length, decisions.has('approved') ? 1 : 0);
  });

  it('keeps a decision that comes while the worker stands still, and delivers one that was never signalled', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'ok' }]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const first = await startRun(data);
    const [request] = await approvalsOf(api, first.runId, node.id);
    const worker = stack.stack.pids.worker!;
    process.kill(worker, 'SIGSTOP');
    try {
      assert.equal((await decide(api, first.runId, request!.request_id, 'approve')).body.status, 200);
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    assert.equal((await api.pollToEnd(first.runId)).data.status, 'succeed');

    stack.modelProvider.script(model, [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'ok' }]);
    const other = draw(scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }, { text: 'ok' }]), {
      require_approval: 'always',
    });
    const second = await startRun(other.data);
    const [lost] = await approvalsOf(api, second.runId, other.node.id);
    // Simulates an API that died between storing the decision and sending the signal.
    await queryDatabase(
      stack,
      `UPDATE approval_requests SET status = 'approved', decided_by = $2, decided_at = now() - interval '1 minute' WHERE request_id = $1`,
      [lost!.request_id, stack.stack.user_id],
    );
    assert.equal((await api.pollToEnd(second.runId, { timeoutMs: 30_000 })).data.status, 'succeed');
  });

  it('fails at once, and pays, on tool calls that cannot be answered', async () => {
    const call = { id: 'x', type: 'function' };
    for (const broken of [call, { ...call, function: {} }, { ...call, function: { name: 7, arguments: '{}' } }]) {
      const message = { role: 'assistant', content: null, tool_calls: [broken] };
      const usage = { prompt_tokens: 10, completion_tokens: 5 };
      const model = scripted([{ body: { model: 'm', choices: [{ index: 0, message }], usage } }]);
      const { data, node } = draw(model);
      const run = await api.runToEnd(data);
      assert.equal(run.nodes[node.id]!.error!.code, 'invalid_response');
      assert.equal(stack.modelProvider.requestsFor(model).length, 1);
      assert.equal((await api.history(run.workflowId, run.runId)).cost['USD'], '0.00002');
    }
  });

  it('answers a call of a name that cannot be stored as one of no tool', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'a\0b', arguments: '{}' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const model = scripted([{ body: { model: 'm', choices: [{ index: 0, message }] } }, { text: 'went on' }]);
    const { data, node } = draw(model);
    assert.equal((await api.runToEnd(data)).nodes[node.id]!.result!.content, 'went on');
  });

  it('stops when its project is deleted, and nobody is left waiting for it', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const project = await api.createProject();
    const runId = (await api.run(await api.createWorkflow(project, data))).data.id;
    await approvalsOf(api, runId, node.id);
    assert.equal((await api.delete(`/projects/${project}/`)).status, 204);
    await eventually(
      async () => {
        const text = 'SELECT status FROM runs WHERE id = $1';
        return (await queryDatabase<{ status: string }>(stack, text, [runId]))[0]?.status === 'Cancelled';
      },
      { timeoutMs: 20_000 },
    );
    assert.equal(tools.calls.length, 0);
  });

  it('cancelled while it waits ends as Cancelled, its turn billed, its request expired', async () => {
    const model = scripted([{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 1 } }] }]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const { runId, workflowId } = await startRun(data);
    const [request] = await approvalsOf(api, runId, node.id);
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.error!.code, 'cancelled');
    const record = await api.history(workflowId, runId);
    assert.deepEqual([record.status, record.cost['USD']], ['Cancelled', '0.00002']);
    assert.equal((await decide(api, runId, request!.request_id, 'approve')).body.status, 409);
  });

  it('keeps contents out of Temporal and secrets out of every answer, and hands the tool the real ones', async () => {
    const secret = 'agent-canary-5f1d09';
    const model = scripted([
      { toolCalls: [{ name: 'note', arguments: { text: `${secret} plain-canary-77` } }] },
      { text: `echo ${secret}` },
    ]);
    const { data, node } = draw(model, { require_approval: 'always' });
    const { runId } = await startRun(data, { topic: 'secrets', token: secret });
    const [request] = await approvalsOf(api, runId, node.id);
    assert.deepEqual(request!.arguments, { text: '******** plain-canary-77' });
    await decide(api, runId, request!.request_id, 'approve');
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![node.id]!.result!.content, 'echo ********');
    assert.deepEqual(tools.callsOf('note')[0]!.arguments, { text: `${secret} plain-canary-77` });
    const events = (await historyOf(stack, runId)).map(({ text }) => text).join('\n');
    for (const canary of [secret, 'plain-canary-77', 'Work on']) assert.equal(events.includes(canary), false, canary);
    for (const table of ['agent_turns', 'agent_tool_calls', 'agent_sessions', 'approval_requests', 'provider_calls']) {
      const rows = await queryDatabase<{ text: string }>(stack, `SELECT t::text AS text FROM ${table} t`);
      const hex = Buffer.from(secret).toString('hex');
      for (const { text } of rows) assert.equal(text.includes(secret) || text.includes(hex), false, table);
    }
    assert.equal(stack.logs().includes(secret), false);
  });
});
