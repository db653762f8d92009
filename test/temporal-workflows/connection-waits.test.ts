import assert from 'node:assert/strict';
import { WAKE_SIGNAL, type Wake } from '../../contract/run-workflow.js';
import { createAccount, type Account } from '../api/accounts.js';
import { createConnection, oauthConnection, readConnection, signIn } from '../api/connections/sign-in.js';
import { createChat } from '../api/conversations/chats.js';
import { createHook, deliveriesOf } from '../api/webhook-receiver.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, http, link, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase, withTemporal } from '../support/inspect.js';
import { startMcpAuthServer, type McpAuthServer } from '../support/mcp-auth-server.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startTokenProvider, type TokenProvider } from '../support/token-provider.js';
import { untilWaiting } from '../support/waiting.js';

describe('runs that wait for a connection', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let account: Account;
  let provider: TokenProvider;
  let target: HttpTarget;
  let projectId: number;

  before(async () => {
    stack = await sharedStack();
    [account, target, provider] = await Promise.all([createAccount(stack), startHttpTarget(), startTokenProvider()]);
    projectId = await account.api.createProject();
  });
  beforeEach(() => {
    provider.accepted.length = 0;
  });
  after(() => Promise.all([target.close(), provider.close()]));

  async function start(project: number, data: object): Promise<string> {
    const started = await account.api.run(await account.api.createWorkflow(project, data));
    assert.equal(started.status, 201, JSON.stringify(started));
    return started.data.id;
  }

  async function openWaits(runId: string): Promise<number> {
    const rows = await queryDatabase(
      stack,
      `SELECT FROM waits WHERE run_id = $1 AND kind = 'connection' AND closed_at IS NULL`,
      [runId],
    );
    return rows.length;
  }

  async function attemptsOf(runId: string): Promise<number[]> {
    const rows = await queryDatabase<{ attempts: number }>(
      stack,
      'SELECT DISTINCT attempts FROM node_results WHERE run_id = $1 AND NOT is_iteration',
      [runId],
    );
    return rows.map(({ attempts }) => attempts);
  }

  for (const execution of ['visible', 'dense']) {
    it(`go on by the branch of the error when nobody has come in time (${execution})`, async () => {
      const id = await oauthConnection(account, projectId, provider, `nobody, ${execution}`);
      const [begin, ill] = [trigger(), http(`${target.url}/${execution}`, { method: 'POST' })];
      const call = http(`${provider.url}/never`, {
        connection: id,
        settings: { connection_timeout: 60 },
        on_error: 'branch',
        error_node: ill.id,
      });
      ill.data['body'] = { code: `{{ ${call.id}.error.code }}` };
      link(begin, call);
      const runId = await start(projectId, { ...drawing([begin, call, ill]), settings: { execution } });
      await untilWaiting(account.api, runId, call.id);
      // Simulates that a minute has passed: Temporal's timer cannot be moved, so the run is woken.
      await queryDatabase(stack, 'UPDATE waits SET until = now() WHERE run_id = $1', [runId]);
      await withTemporal(stack, (client) =>
        client.workflow.getHandle(runId).signal<[Wake]>(WAKE_SIGNAL, { path: '', nodeId: call.id }),
      );
      const { data } = await account.api.pollToEnd(runId);
      assert.equal(data.status, 'succeed', JSON.stringify(data));
      assert.equal(data.data![call.id]!.error?.code, 'connection_expired');
      const [told] = target.requestsTo(`/${execution}`);
      assert.deepEqual(JSON.parse(told!.body), { code: 'connection_expired' });
      assert.deepEqual([provider.accepted, await openWaits(runId)], [[], 0]);
    });
  }

  it('go on by the branch of the error when nobody has come in time for an agent', async () => {
    const id = await oauthConnection(account, projectId, provider, 'nobody, an agent');
    const [begin, ill] = [trigger(), http(`${target.url}/agent`, { method: 'POST' })];
    const tools = { endpoint_url: `${provider.url}/mcp`, connection: id };
    const branch = { on_error: 'branch', error_node: ill.id };
    const asked = agent('Work', { model_name: 'nobody-signs-in', connection_timeout: 60 }, [tools], branch);
    ill.data['body'] = { code: `{{ ${asked.id}.error.code }}` };
    link(begin, asked);
    const runId = await start(projectId, drawing([begin, asked, ill]));
    const { waiting } = await untilWaiting(account.api, runId, asked.id);
    const leftMs = Date.parse(waiting!.until!) - Date.now();
    assert.ok(waiting!.for === 'connection' && leftMs <= 60_000, JSON.stringify(waiting));
    // Simulates that a minute has passed, as above.
    await queryDatabase(stack, 'UPDATE waits SET until = now() WHERE run_id = $1', [runId]);
    await withTemporal(stack, (client) =>
      client.workflow.getHandle(runId).signal<[Wake]>(WAKE_SIGNAL, { path: '', nodeId: asked.id }),
    );
    const { data } = await account.api.pollToEnd(runId);
    assert.equal(data.status, 'succeed', JSON.stringify(data));
    assert.equal(data.data![asked.id]!.error?.code, 'connection_expired');
    const [told] = target.requestsTo('/agent');
    assert.deepEqual(JSON.parse(told!.body), { code: 'connection_expired' });
    assert.equal(stack.modelProvider.requestsFor('nobody-signs-in').length, 0);
    assert.deepEqual([provider.accepted, await openWaits(runId)], [[], 0]);
  });

  it('tell a chat at once who has to come, and go on', async () => {
    const id = await oauthConnection(account, projectId, provider, 'of the chat');
    const call = http(`${provider.url}/chat`, { connection: id });
    const workflowId = await createChat(account.api, projectId, drawing(linkInRow([trigger(), call])));
    const sinceMs = performance.now();
    const answer = await fetch(`${stack.apiUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ model: `workflow:${workflowId}`, messages: [{ role: 'user', content: 'Go' }] }),
    });
    const told = (await answer.json()) as { id: string; choices: { message: { content: string } }[] };
    const wanted = /^Somebody has to sign in for the connection `of the chat` here: http\S+\/inbox \(until \S+Z\)\n/;
    assert.match(told.choices[0]!.message.content, wanted);
    // Without a notification, the wait would be noticed only by the check every 15 s.
    assert.ok(performance.now() - sinceMs < 12_000);
    await signIn(stack, account, { projectId, id });
    assert.equal((await account.api.pollToEnd(told.id)).data.status, 'succeed');
  });

  it('hold no slot and use no attempt: more nodes wait than a worker has slots, and others run meanwhile', async () => {
    const id = await oauthConnection(account, projectId, provider, 'many');
    const begin = trigger();
    const retry = { max_attempts: 1 };
    const calls = Array.from({ length: 150 }, (_, at) =>
      http(`${provider.url}/many/${at}`, { connection: id, method: 'POST', body: {}, retry }),
    );
    link(begin, calls);
    const runId = await start(projectId, drawing([begin, ...calls]));
    await eventually(async () => (await openWaits(runId)) === 150);
    const other = await account.api.runToEnd(drawing(linkInRow([trigger(), http(`${target.url}/meanwhile`)])));
    assert.equal(other.status, 'succeed');
    assert.equal(await openWaits(runId), 150);
    await signIn(stack, account, { projectId, id });
    const { data } = await account.api.pollToEnd(runId, { timeoutMs: 40_000 });
    assert.equal(data.status, 'succeed');
    assert.deepEqual([provider.accepted.length, new Set(provider.accepted).size], [150, 150]);
    assert.deepEqual(await attemptsOf(runId), [1]);
  });

  it('amid a loop of 100: one event, one entry of the inbox, and 100 accepted calls', async () => {
    const hook = await createHook(account.api, target);
    const id = await oauthConnection(account, hook.projectId, provider, 'revoked');
    await signIn(stack, account, { projectId: hook.projectId, id });
    const body = http('', { connection: id, method: 'POST', body: {} });
    const loop = node('for_each', {
      items: Array.from({ length: 100 }, (_, at) => at),
      body_node: body.id,
      concurrency: 5,
    });
    body.data['url'] = `${provider.url}/items/{{ ${loop.id}.item }}`;
    const begin = trigger();
    link(begin, loop);
    const runId = await start(hook.projectId, drawing([begin, loop, body]));
    await eventually(() => provider.accepted.length >= 30);
    provider.revoke();
    await eventually(async () => (await openWaits(runId)) === 5);
    const events = async () =>
      (await deliveriesOf(account.api, hook.projectId)).filter(({ type }) => type === 'connection.needs_authorization');
    const [event] = await eventually(async () => {
      const found = await events();
      return found[0]?.status === 'delivered' && found;
    });
    const inbox = await account.api.get<{ items: { id: number; waiting_runs: number }[] }>(
      '/connections/?status=needs_authorization',
    );
    const entries = inbox.body.items.filter((each) => each.id === id);
    assert.deepEqual(
      entries.map((each) => each.waiting_runs),
      [1],
    );
    await signIn(stack, account, { projectId: hook.projectId, id });
    const { data } = await account.api.pollToEnd(runId);
    assert.equal(data.status, 'succeed', JSON.stringify(data.data?.[loop.id]));
    const wanted = Array.from({ length: 100 }, (_, at) => `POST /items/${at}`);
    assert.deepEqual(provider.accepted.toSorted(), wanted.toSorted());
    assert.deepEqual(await attemptsOf(runId), [1]);
    assert.deepEqual(
      (await events()).map((each) => each.id),
      [event!.id],
    );
    const [told] = target
      .requestsTo(hook.path)
      .map((request) => JSON.parse(request.body) as { type: string; data: object })
      .filter(({ type }) => type === 'connection.needs_authorization');
    assert.deepEqual(told!.data, { connection_id: id, project_id: hook.projectId });
    const after = await account.api.get<{ items: { id: number }[] }>('/connections/?status=needs_authorization');
    assert.ok(!after.body.items.some((each) => each.id === id));
  });

  describe('with agents', () => {
    let guarded: McpAuthServer;

    before(async () => {
      guarded = await startMcpAuthServer();
    });
    after(() => guarded.close());

    const connect = (name: string) =>
      createConnection(account, projectId, {
        name,
        kind: 'mcp_oauth',
        origins: [guarded.origin],
        settings: { server_url: guarded.url },
      });

    it('wait once for all calls, ask the model nothing again, and make each call once', async () => {
      const id = await connect('of an agent');
      assert.equal((await signIn(stack, account, { projectId, id })).searchParams.get('error'), null);
      const model = 'waits-for-a-connection';
      stack.modelProvider.script(model, ({ messages }) => {
        if (messages.some(({ role }) => role === 'tool')) return { text: 'done' };
        guarded.revoke();
        return { toolCalls: ['one', 'two', 'three'].map((text) => ({ name: 'note', arguments: { text } })) };
      });
      const tools = { endpoint_url: guarded.url, connection: id, require_approval: 'never' };
      const asked = agent('Work', { model_name: model, connection_timeout: 3_600 }, [tools]);
      const runId = await start(projectId, drawing(linkInRow([trigger(), asked])));
      const { waiting } = await untilWaiting(account.api, runId, asked.id);
      const leftMs = Date.parse(waiting!.until!) - Date.now();
      assert.ok(waiting!.for === 'connection' && leftMs > 3_500_000 && leftMs <= 3_600_000, JSON.stringify(waiting));
      assert.deepEqual([await openWaits(runId), guarded.calls], [1, []]);
      await signIn(stack, account, { projectId, id });
      const { data } = await account.api.pollToEnd(runId);
      assert.equal(data.status, 'succeed', JSON.stringify(data));
      assert.deepEqual(guarded.calls.toSorted(), ['one', 'three', 'two']);
      assert.equal(stack.modelProvider.requestsFor(model).length, 2);
      assert.deepEqual(await attemptsOf(runId), [1]);
      assert.equal((await readConnection(account, projectId, id)).status, 'ready');
    });

    it('wait before they begin where their tools cannot be listed, one connection after the other', async () => {
      const [one, two] = [await connect('first of two'), await connect('second of two')];
      const tools = [one, two].map((connection, at) => ({
        endpoint_url: guarded.url,
        connection,
        server_label: `server${at}`,
      }));
      const asked = agent('Work', { model_name: 'lists-by-two' }, tools);
      stack.modelProvider.script('lists-by-two', { text: 'done' });
      const runId = await start(projectId, drawing(linkInRow([trigger(), asked])));
      await untilWaiting(account.api, runId, asked.id);
      assert.equal(await openWaits(runId), 1);
      await signIn(stack, account, { projectId, id: one });
      await signIn(stack, account, { projectId, id: two });
      const { data } = await account.api.pollToEnd(runId);
      assert.equal(data.status, 'succeed', JSON.stringify(data));
      assert.equal(stack.modelProvider.requestsFor('lists-by-two').length, 1);
      assert.deepEqual(await attemptsOf(runId), [1]);
    });
  });
});
