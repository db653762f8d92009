// Tests the assistant in the editor over HTTP (docs/use/assistants.md, "In the editor"). The answers of the model are
// scripted; the tools that it calls are those of the service.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { awaitDrawing } from '../../../api/dispatch/await-drawing.js';
import type { DispatchDeps } from '../../../api/dispatch/deps.js';
import type { RequestContext } from '../../../api/dispatch/step.js';
import { CALL_NAME } from '../../../contract/assistant-call.js';
import { isAssistantToken, makeAssistantToken } from '../../../db/agents/assistant-token.js';
import { findBaseline } from '../../../db/conversations/baselines-repository.js';
import { createDatabase } from '../../../db/core/client.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { readSecrets } from '../../../cli/embedded/secrets-file.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { drawing, http, linkInRow, trigger } from '../../../harness/drawing/drawing.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import type { ModelAnswer, ModelRequest } from '../../../harness/target/fake-model-provider.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { TEXT_COPIES } from '../../../memory/json-copies.js';
import { createCanary } from '../../support/canary.js';
import { historyOf, queryDatabase, tablesWith } from '../../support/inspect.js';
import { openRetention } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import { assertBytesRight } from '../../support/stored-bytes.js';
import { changeKey, createAccount, giveRole, type Account } from '../accounts.js';
import type { Page } from '../bodies.js';
import { call, connectOfficial, INITIALIZE, textOf, type CallToolResult } from '../mcp-server/mcp-clients.js';
import { createHook, deliveriesOf, startRun } from '../webhook-receiver.js';
import { post, say, type Message } from './chats.js';

interface AssistantView {
  conversation: string | null;
  model: string | null;
  cost: Record<string, string>;
  run: string | null;
}

interface Draft {
  data: { nodes: { id: string }[] };
  base_version: number;
  assistant_run: string | null;
}

const tool = (name: string, args: object): ModelAnswer => ({ toolCalls: [{ name, arguments: args }] });
const output = (id: string, after: string) => ({ add: { id, kind: 'output-node', data: { value: 'x' }, after } });

/** Returns the result of the last tool call, or an empty text before the first one. */
function answered(request: ModelRequest): string {
  const content = request.messages.findLast(({ role }) => role === 'tool')?.content;
  return typeof content === 'string' ? content : '';
}

describe('the assistant in the editor', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let account: Account;
  let api: ApiClient;
  let target: HttpTarget;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    [account, target] = await Promise.all([createAccount(stack), startHttpTarget()]);
    ({ api } = account);
    project = await api.createProject();
  });
  after(() => target.close());

  interface Opened {
    id: number;
    conversation: string;
    model: string;
    start: string;
    send: string;
  }

  /** Creates a workflow that sends a request, and a conversation with its assistant. */
  async function open(by = api, projectId = project): Promise<Opened> {
    const [start, send] = linkInRow([trigger(), http(`${target.url}/sent/${randomUUID()}`, { method: 'POST' })]);
    const id = await api.createWorkflow(projectId, drawing([start!, send!]));
    const model = `assistant-${randomUUID()}`;
    const { status, body } = await by.put<AssistantView>(`/workflows/${id}/assistant/`, { body: { model } });
    assert.equal(status, 200, JSON.stringify(body));
    return { id, conversation: body.conversation!, model, start: start!.id, send: send!.id };
  }

  const draftOf = (id: number, by = api) => by.get<Draft>(`/workflows/${id}/draft/`);
  const viewOf = async (id: number) => (await api.get<AssistantView>(`/workflows/${id}/assistant/`)).body;

  /** Returns the answer to the message, once its run has ended. */
  async function answerTo(conversation: string, runId: string, by = api): Promise<Message> {
    return eventually(async () => {
      const { body } = await by.get<Page<Message>>(`/conversations/${conversation}/messages/`);
      return body.items.find((message) => message.role === 'assistant' && message.run_id === runId);
    });
  }

  async function approvalOf(runId: string, by = api): Promise<string> {
    return eventually(async () => {
      const { body } = await by.get<Page<{ run_id: string; request_id: string }>>('/agent-approvals/?status=pending');
      return body.items.find((one) => one.run_id === runId)?.request_id;
    });
  }

  const connectDatabase = () =>
    createDatabase({ url: stack.stack.database_url, poolMax: 2, applicationName: 'test', onError: () => undefined });
  const boxOf = () => createSecretBox([Buffer.from(readSecrets(stack.dataDir)!.SECRETS_KEY, 'base64')]);

  interface Waiting extends Opened {
    runId: string;
    /** The approval request that the run waits for. */
    requestId: string;
  }

  /** Starts an answer whose first tool call, a test, waits for approval. */
  async function openWaiting(by = api, projectId = project): Promise<Waiting> {
    const opened = await open(by, projectId);
    const waiting = tool('test_workflow', { id: opened.id, mode: 'from', execute: ['none'] });
    stack.modelProvider.script(opened.model, [waiting, { text: 'Well.' }]);
    const { run_id: runId } = await say(by, opened.conversation, 'Try it.');
    return { ...opened, runId, requestId: await approvalOf(runId, by) };
  }

  const testsOf = (runId: string) =>
    queryDatabase<{ run_id: string }>(stack, 'SELECT run_id FROM test_runs WHERE asked_by = $1', [runId]);

  const runsOf = async (query: string, by = api) =>
    (await by.get<Page<{ id: string; purpose: string }>>(`/runs/?project=${project}&${query}`)).body.items;

  it('changes the draft of its user with the tools of /mcp/build, in a run with the purpose `assistant`', async () => {
    const { id, conversation, model, send } = await open();
    stack.modelProvider.script(model, (request) => {
      const answer = answered(request);
      if (answer === '') return tool('get_workflow', { id });
      const seen = JSON.parse(answer) as { draft: string | null; check?: object; nodes?: object[] };
      if (seen.check !== undefined) return { text: 'Done.' };
      return tool('edit_workflow', { id, changes: [output('end', send)], ...(seen.draft && { base: seen.draft }) });
    });
    const { run_id: runId } = await say(api, conversation, 'Put something out. {{ input.model }}');
    const answer = await answerTo(conversation, runId);
    assert.deepEqual([answer.status, answer.content], ['succeed', 'Done.']);
    const draft = await draftOf(id);
    assert.ok(draft.body.data.nodes.some((node) => node.id === 'end'));
    assert.equal(draft.body.assistant_run, runId);
    const [first] = stack.modelProvider.requestsFor(model);
    const text = JSON.stringify(first!.body);
    assert.match(text, /You build workflows of a workflow automation service/);
    assert.match(text, /\{\{ get\.result\.json\.items/, 'variables in the instructions stay as they are');
    const offered = (first!.body['tools'] as { function: { name: string } }[]).map((one) => one.function.name);
    assert.ok(offered.includes('edit_workflow') && !offered.includes('save_workflow'), offered.join());
    const view = await viewOf(id);
    assert.deepEqual([view.conversation, view.model, view.run], [conversation, model, runId]);
    assert.ok(
      Object.values(view.cost).some((amount) => Number(amount) > 0),
      JSON.stringify(view.cost),
    );
    const before = await api.get<{ run: string; data: object | null; base_version: number }>(
      `/workflows/${id}/assistant/before/`,
    );
    assert.deepEqual(before.body, { run: runId, data: null, base_version: 1 });
    assert.deepEqual(
      (await runsOf('purpose=assistant')).filter((run) => run.id === runId).map(({ purpose }) => purpose),
      ['assistant'],
    );
    assert.ok(
      (await runsOf('size=100')).every((run) => run.id !== runId),
      'among other runs',
    );
    assert.equal((await api.get<Page<object>>(`/workflows/${id}/history/`)).body.total, 0);
    const again = await api.post<{ code: string }>(`/workflows/${id}/history/${runId}/re-run/`, { body: {} });
    assert.deepEqual([again.status, again.body.code], [400, 'run_is_assistant']);
    // When the user changes the draft afterwards, it no longer names the run of the assistant.
    const { headers } = draft;
    const data = draft.body.data;
    await api.put(`/workflows/${id}/draft/`, {
      body: { data, base_version: 1 },
      headers: { 'If-Match': headers.get('etag')! },
    });
    assert.equal((await draftOf(id)).body.assistant_run, null);
  });

  it('gets an error as the result of a call of an unknown tool or for another workflow, and goes on', async () => {
    const { id, conversation, model, start } = await open();
    const { id: other } = await open();
    const told: string[] = [];
    const steps = [
      tool('draw_everything', {}),
      tool('save_workflow', { id, base: 'x' }),
      tool('edit_workflow', { id: other, changes: [output('end', start)] }),
      tool('edit_workflow', { project, title: 'Another', changes: [{ add: { id: 'start', kind: 'trigger-node' } }] }),
    ];
    stack.modelProvider.script(model, (request) => {
      const at = request.messages.filter(({ role }) => role === 'tool').length;
      if (at > 0) told[at - 1] = answered(request);
      return steps[at] ?? { text: 'Well.' };
    });
    const { run_id: runId } = await say(api, conversation, 'Do it.');
    assert.equal((await answerTo(conversation, runId)).content, 'Well.');
    assert.deepEqual(told.slice(0, 2), ['There is no tool of this name.', 'There is no tool of this name.']);
    assert.match(told[2]!, /of this editor alone/);
    assert.match(told[3]!, /of this editor alone/);
    assert.equal((await draftOf(other)).status, 404);
  });

  it('needs the approval of its user alone for a test that sends something, and none for a mocked one', async () => {
    const { id, conversation, model, send } = await open();
    const test = { id, mode: 'node', node: send };
    const steps = [tool('test_workflow', test), tool('test_workflow', { ...test, execute: [send] })];
    stack.modelProvider.script(model, (request) => {
      const at = request.messages.filter(({ role }) => role === 'tool').length;
      return steps[at] ?? { text: answered(request) };
    });
    const sent = () => target.requests.filter(({ method }) => method === 'POST').length;
    const earlier = sent();
    const { run_id: runId } = await say(api, conversation, 'Try it.');
    const requestId = await approvalOf(runId);
    assert.equal(sent(), earlier, 'the first test was mocked');
    const admin = await createAccount(stack);
    await giveRole(stack, admin, project, 'admin');
    const approve = `/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`;
    const foreign = await admin.api.post<{ status: number }>(approve, { body: {} });
    assert.notEqual(foreign.body.status, 200, JSON.stringify(foreign.body));
    const decided = await api.post<{ status: number }>(approve, { body: {} });
    assert.equal(decided.status, 200, JSON.stringify(decided.body));
    const { content } = await answerTo(conversation, runId);
    const { status, nodes } = JSON.parse(content!) as { status: string; nodes: { mocked?: true }[] };
    assert.deepEqual([status, nodes.some(({ mocked }) => mocked)], ['succeed', false]);
    assert.equal(sent(), earlier + 1);
  });

  it('is cancelled together with its running test', async () => {
    const { id, conversation, model } = await open();
    const held = `/hold/${randomUUID()}`;
    const [start, get] = linkInRow([trigger(), http(`${target.url}${held}`)]);
    const { headers } = await api.get(`/workflows/${id}/`);
    const saved = await api.patch(`/workflows/${id}/`, {
      body: { data: drawing([start!, get!]) },
      headers: { 'If-Match': headers.get('etag')! },
    });
    assert.equal(saved.status, 200);
    stack.modelProvider.script(model, [tool('test_workflow', { id, mode: 'from' }), { text: 'never' }]);
    const { run_id: runId } = await say(api, conversation, 'Try it.');
    await eventually(() => target.requests.some(({ path }) => path === held));
    const [test] = await eventually(async () => {
      const found = await testsOf(runId);
      return found.length > 0 ? found : undefined;
    });
    await api.post(`/workflows/${id}/history/${runId}/cancel/`);
    await eventually(async () => {
      const states = await Promise.all(
        [runId, test!.run_id].map((run) => api.get<{ status: string }>(`/runs/${run}/`)),
      );
      return states.every(({ body }) => body.status === 'Cancelled');
    });
    target.release(held);
    assert.equal((await answerTo(conversation, runId)).status, 'cancelled');
  });

  it('is for editors, each with a conversation of their own that nobody else sees', async () => {
    const { id, conversation } = await open();
    const [viewer, admin, editor] = await Promise.all([
      createAccount(stack),
      createAccount(stack),
      createAccount(stack),
    ]);
    await giveRole(stack, viewer, project, 'viewer');
    await giveRole(stack, admin, project, 'admin');
    await giveRole(stack, editor, project, 'editor');
    assert.equal((await viewer.api.get(`/workflows/${id}/assistant/`)).status, 403);
    assert.equal((await viewer.api.put(`/workflows/${id}/assistant/`, { body: { model: 'm' } })).status, 403);
    for (const other of [admin, editor, viewer]) {
      assert.equal((await other.api.get(`/conversations/${conversation}/`)).status, 404);
      assert.equal((await other.api.get(`/conversations/${conversation}/messages/`)).status, 404);
      assert.equal((await post(other.api, conversation, { content: 'Hi' })).status, 404);
    }
    assert.deepEqual((await editor.api.get<AssistantView>(`/workflows/${id}/assistant/`)).body.conversation, null);
    const own = await editor.api.put<AssistantView>(`/workflows/${id}/assistant/`, { body: { model: 'm' } });
    assert.notEqual(own.body.conversation, conversation);
    await api.patch(`/workflows/${id}/`, { body: { is_chat: true } });
    assert.equal((await api.get<Page<object>>(`/workflows/${id}/conversations/`)).body.total, 0);
    await changeKey(stack, editor, { scope: 'run' });
    const refused = await post(editor.api, own.body.conversation!, { content: 'Hi' });
    assert.deepEqual([refused.status, (refused.body as unknown as { code: string }).code], [403, 'key_scope']);
    const none = await api.put(`/workflows/${id}/assistant/`, { body: { model: '' } });
    assert.equal(none.status, 400);
  });

  it('answers in runs that nobody else can read, cancel or reuse, and that no webhook reports', async () => {
    const hook = await createHook(api, target);
    const [author, admin, viewer] = await Promise.all([1, 2, 3].map(() => createAccount(stack)));
    await giveRole(stack, author!, hook.projectId, 'editor');
    await giveRole(stack, admin!, hook.projectId, 'admin');
    await giveRole(stack, viewer!, hook.projectId, 'viewer');
    const { id, conversation, runId, requestId } = await openWaiting(author!.api, hook.projectId);
    const history = `/workflows/${id}/history/${runId}/`;
    const approvals = `/workflows/workflow_run/${runId}/agent-approval/`;
    const reads = [
      `/runs/${runId}/`,
      history,
      `${history}nodes/assistant/`,
      `${history}nodes/assistant/steps/`,
      `/billing-history/workflowrun/${runId}/`,
      approvals,
      `/agent-approvals/${requestId}/`,
    ];
    const polls = ['', 'events/'].map((path) => `/workflows/workflow_result/${path}?id=${runId}`);
    const changes = ['cancel', 're-run', 'resume', 'toggle-api-run'].map((word) => `${history}${word}/`);
    const unknown = await viewer!.api.get(`/workflows/${id}/history/${randomUUID()}/`);
    for (const other of [api, admin!.api, viewer!.api]) {
      for (const path of [...reads, `${history}iterations/?node=assistant`]) {
        const { status, body } = await other.get(path);
        assert.deepEqual([status, body], [404, unknown.body], path);
      }
      for (const path of polls) assert.equal((await other.get(path)).status, 400, path);
      for (const path of [...changes, `${approvals}${requestId}/approve/`])
        assert.equal((await other.post(path, { body: {} })).status, 404, path);
    }
    for (const path of [...reads, polls[0]!]) assert.equal((await author!.api.get(path)).status, 200, path);
    await author!.api.post(`${approvals}${requestId}/reject/`, { body: {} });
    await answerTo(conversation, runId, author!.api);
    const taken = [
      await author!.api.put(`/workflows/${id}/pins/assistant/`, { body: { from_run: runId } }),
      await author!.api.post(`/workflows/${id}/cases/from-run/`, { body: { run_id: runId, name: 'n' } }),
    ];
    assert.deepEqual(
      taken.map(({ status }) => status),
      [400, 400],
      'what every member reads has nothing of it',
    );
    const ordinary = await startRun(api, hook.projectId);
    await api.pollToEnd(ordinary);
    const told = new Set((await deliveriesOf(api, hook.projectId)).map((delivery) => delivery.run_id));
    assert.deepEqual([told.has(ordinary), told.has(runId)], [true, false]);
  });

  it('starts no test once its cancellation was requested', async () => {
    const { id, runId } = await openWaiting();
    const assistant = await connectOfficial(stack.apiUrl, makeAssistantToken(boxOf(), runId), { path: '/mcp/build' });
    const db = connectDatabase();
    try {
      const { begun } = await db.transaction().execute(async (trx) => {
        await sql`SELECT FROM runs WHERE id = ${runId} FOR NO KEY UPDATE`.execute(trx);
        const test = call(assistant, 'test_workflow', { id, mode: 'from' });
        test.catch(() => undefined);
        const waits = sql`SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`;
        await eventually(async () => (await waits.execute(trx)).rows.length > 0);
        await sql`UPDATE runs SET cancel_requested_at = now() WHERE id = ${runId}`.execute(trx);
        return { begun: test };
      });
      const refused = await begun;
      assert.deepEqual([refused.isError, /run_finished/.test(textOf(refused))], [true, true], textOf(refused));
      assert.deepEqual(await testsOf(runId), []);
    } finally {
      await Promise.all([db.destroy(), assistant.client.close()]);
    }
  });

  it('gets the same test run for a repeated call, although its user has changed the draft', async () => {
    const { id, runId } = await openWaiting();
    const { client } = await connectOfficial(stack.apiUrl, makeAssistantToken(boxOf(), runId), { path: '/mcp/build' });
    const test = async (name: string) => {
      const asked = { name: 'test_workflow', arguments: { id, mode: 'from' }, _meta: { [CALL_NAME]: name } };
      return (await client.callTool(asked)) as CallToolResult & { structuredContent?: { run_id: string } };
    };
    const first = await test('7.0');
    assert.equal(first.isError, undefined, textOf(first));
    const { start_node: _start, ...data } = drawing([trigger()]);
    await api.put(`/workflows/${id}/draft/`, { body: { data, base_version: 1 } });
    const again = await test('7.0');
    assert.equal(again.structuredContent?.run_id, first.structuredContent?.run_id, textOf(again));
    assert.equal((await test('7.1')).isError, true, 'another call reads the draft');
    assert.equal((await testsOf(runId)).length, 1);
    await client.close();
  });

  it('stores the earlier draft without secrets, counted, until the draft is deleted or for 30 days', async () => {
    const own = await api.createProject();
    const { id, conversation, model } = await open(api, own);
    stack.modelProvider.script(model, () => ({ text: 'Hm.' }));
    const fields = [{ id: 'code', type: 'text', is_secret: true, default_value: 'a secret value' }];
    const key = { workflowId: id, userId: account.userId };
    const kept = () => queryDatabase(stack, 'SELECT secrets_enc FROM answer_baselines WHERE workflow_id = $1', [id]);
    const before = async () => (await api.get<{ data: object }>(`/workflows/${id}/assistant/before/`)).status;
    const ask = async (): Promise<string> => {
      await api.put(`/workflows/${id}/draft/`, { body: { data: drawing([trigger(fields)]), base_version: 1 } });
      const { run_id: runId } = await say(api, conversation, 'Hm?');
      await answerTo(conversation, runId);
      assert.equal(await before(), 200);
      return runId;
    };
    const db = connectDatabase();
    const retention = openRetention(stack);
    try {
      await ask();
      assert.deepEqual(await kept(), [{ secrets_enc: null }]);
      await assertBytesRight(stack, own);
      const bytes = Buffer.byteLength((await findBaseline(db, key))!.document!);
      await api.put(`/workflows/${id}/draft/`, { body: { data: { nodes: [] }, base_version: 1 } });
      let leased = 0;
      const memory = { bytes: 0, resize: async (more: number) => void (leased = more) };
      const state = { memory, caller: account } as unknown as RequestContext['state'];
      const heavyWork = { run: async (_who: object, _bytes: number, work: () => Promise<void>) => work() };
      const step = awaitDrawing({ readsBaseline: 'text' }, { db, heavyWork } as unknown as DispatchDeps);
      await step({ params: { id: String(id) }, state } as unknown as RequestContext, () => Promise.resolve());
      assert.equal(leased, TEXT_COPIES * bytes, 'memory for it, not for the draft');
      assert.equal((await api.delete(`/workflows/${id}/draft/`)).status, 204);
      assert.deepEqual([await before(), await kept()], [404, []]);

      const runId = await ask();
      await queryDatabase(
        stack,
        `UPDATE answer_baselines SET created_at = now() - make_interval(hours => 24 * 31) WHERE workflow_id = $1`,
        [id],
      );
      assert.equal(await before(), 404);
      await retention.round();
      assert.deepEqual(await kept(), []);
      assert.equal((await viewOf(id)).run, runId);

      await ask();
      await api.patch(`/workflows/${id}/`, { body: { data: drawing([trigger()]), from_draft: true } });
      assert.deepEqual(await kept(), [], 'after a save');
      await assertBytesRight(stack, own);
      await ask();
      await api.delete(`/workflows/${id}/`);
      assert.deepEqual(await kept(), [], 'with its workflow');
    } finally {
      await Promise.all([db.destroy(), retention.close()]);
    }
  });

  it('has a token for /mcp/build only, while its run is in progress; nobody sees it', async () => {
    const { id, conversation, model } = await open();
    const secret = createCanary('a secret of a draft', (core) => core);
    const box = boxOf();
    // This call waits for approval, so the run stays in progress.
    const waiting = tool('test_workflow', { id, mode: 'from', execute: ['none'] });
    stack.modelProvider.script(model, [tool('get_workflow', { id }), waiting, { text: 'Read.' }]);
    const data = drawing([trigger([{ id: 'code', type: 'text', is_secret: true, default_value: secret.value }])]);
    await api.put(`/workflows/${id}/draft/`, { body: { data, base_version: 1 } });
    const { run_id: runId } = await say(api, conversation, 'Read it.');
    const token = makeAssistantToken(box, runId);
    assert.ok(isAssistantToken(token));
    const ask = (path: string, headers: Record<string, string>, body: object = INITIALIZE) =>
      fetch(`${stack.apiUrl}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        body: JSON.stringify(body),
      });
    const bearer = { authorization: `Bearer ${token}` };
    assert.equal((await ask('/mcp/build', bearer)).status, 200);
    assert.equal((await ask('/mcp', bearer)).status, 401);
    assert.equal((await ask('/v1/chat/completions/', bearer, { model, messages: [] })).status, 401);
    for (const headers of [bearer, { 'x-api-key': token }])
      assert.equal((await fetch(`${stack.apiUrl}/api/v1/me/`, { headers })).status, 401);
    const old = makeAssistantToken(box, runId, Date.now() - 3_600_000);
    assert.equal((await ask('/mcp/build', { authorization: `Bearer ${old}` })).status, 401);
    const none = makeAssistantToken(box, randomUUID());
    assert.equal((await ask('/mcp/build', { authorization: `Bearer ${none}` })).status, 401);
    const ordinary = await api.runToEnd(drawing([trigger()]));
    const ofRun = makeAssistantToken(box, ordinary.runId);
    assert.equal((await ask('/mcp/build', { authorization: `Bearer ${ofRun}` })).status, 401);
    await api.post(`/workflows/workflow_run/${runId}/agent-approval/${await approvalOf(runId)}/reject/`, { body: {} });
    assert.equal((await answerTo(conversation, runId)).content, 'Read.');
    assert.equal((await ask('/mcp/build', bearer)).status, 401, 'after its run');
    const found = await api.get(`/runs/${runId}/`);
    const steps = await api.get(`/workflows/${id}/history/${runId}/nodes/assistant/steps/`);
    assert.equal(steps.status, 200);
    const seen = JSON.stringify([
      found.body,
      steps.body,
      stack.modelProvider.requestsFor(model).map(({ text }) => text),
    ]);
    assert.ok(!seen.includes('wfr_') && !seen.includes(secret.value));
    const history = JSON.stringify(await historyOf(stack, runId));
    assert.ok(!history.includes('wfr_') && !history.includes(secret.value));
    const tables = ['runs', 'node_results', 'agent_sessions', 'agent_tool_calls', 'agent_turns', 'audit_records'];
    assert.deepEqual(await tablesWith(stack, tables, ['wfr_', secret.value]), []);
  });
});
