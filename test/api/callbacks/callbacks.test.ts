// Callbacks, and what users see of a node that waits for one (docs/use/nodes.md, "Wait").
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { secretsOf } from '../../../harness/stack/service-process.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { createApiClient, type ApiClient, type NodeEntry } from '../../../harness/client/api-client.js';
import { openEventStream } from '../../support/event-stream.js';
import { eventually } from '../../../harness/timing/eventually.js';
import {
  agent,
  drawing,
  http,
  link,
  linkInRow,
  node,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { cancelRun, queryDatabase, withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { approvalsOf } from '../../support/agents.js';
import { callBack, callbackUrlOf, untilWaiting } from '../../support/waiting.js';
import { changeKey, createAccount, giveRole, type Account } from '../accounts.js';

interface Waits {
  projectId: number;
  workflowId: number;
  runId: string;
  pause: DrawingNode;
  url: string;
}

describe('callbacks', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
  });
  after(() => Promise.all([target.close(), tools.close()]));

  /** Starts a run in which a node waits for a callback. The nodes in `beside` follow the trigger, too. */
  async function startWaiting(data: Record<string, unknown> = {}, beside: DrawingNode[] = []): Promise<Waits> {
    const [begin, pause] = [trigger(), node('wait', { mode: 'callback', timeout: 600, ...data })];
    link(begin, [pause, ...beside]);
    const projectId = await api.createProject();
    const workflowId = await api.createWorkflow(projectId, drawing([begin, pause, ...beside]));
    const runId = (await api.run(workflowId)).data.id;
    return { projectId, workflowId, runId, pause, url: await callbackUrlOf(api, runId, pause.id) };
  }

  async function viewerOf(projectId: number): Promise<Account> {
    const viewer = await createAccount(stack);
    await giveRole(stack, viewer, projectId, 'viewer');
    return viewer;
  }

  it('answer every forged token with the same 404', async () => {
    const { url, runId } = await startWaiting();
    const known = url.split('/').at(-2)!;
    const answers = new Set<string>();
    const forged = [randomBytes(32).toString('base64url'), `${known.slice(0, -1)}_`, known.toLowerCase(), 'x', runId];
    for (const token of forged) {
      const response = await fetch(url.replace(known, token), { method: 'POST', body: 'forged' });
      answers.add(`${response.status} ${await response.text()}`);
    }
    assert.deepEqual([...answers], ['404 {"detail":"Not found.","code":"not_found"}']);
    assert.equal((await fetch(url)).status, 405, 'it is asked for by POST alone');
    await cancelRun(stack, runId);
  });

  it('the first one counts; a repeat is a 200 while the run is in progress, and a 410 after its end', async () => {
    const slow = http(`${target.url}/hold/callbacks-repeat`);
    const { url, runId, pause } = await startWaiting({}, [slow]);
    const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => callBack(url, `answer ${index}`)));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(answers.filter(({ accepted }) => accepted).length, 1);
    const first = answers.findIndex(({ accepted }) => accepted);
    assert.deepEqual(await callBack(url, 'again'), { status: 200, accepted: false });
    target.release('/hold/callbacks-repeat');
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.data![pause.id]!.result!.content, `answer ${first}`);
    assert.equal((await callBack(url, 'after the end')).status, 410);
  });

  it('one after the timeout of its node is a 410, even while the run is in progress', async () => {
    const [begin, pause] = [trigger(), node('wait', { mode: 'callback', timeout: 1, on_error: 'continue' })];
    const body = `{{ ${pause.id}.callback_url }}`;
    const [slow, tell] = [http(`${target.url}/hold/late`), http(`${target.url}/late`, { method: 'POST', body })];
    link(begin, [slow, tell]);
    link(tell, pause);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([begin, slow, tell, pause]));
    const runId = (await api.run(workflowId)).data.id;
    const { body: url } = await eventually(() => target.requestsTo('/late')[0]);
    await eventually(async () => (await api.poll(runId)).data.data![pause.id]?.status === 'failed');
    const late = await callBack(url, 'late');
    assert.equal((await api.poll(runId)).data.status, 'in progress');
    assert.equal(late.status, 410);
    await cancelRun(stack, runId);
  });

  it('one for a stopped iteration is a 410, even while the run is in progress', async () => {
    const waitFor = () => node('wait', { mode: 'callback', timeout: 600 });
    const [begin, first, stopped, failing, hold] = [
      trigger(),
      node('set', { value: '' }),
      waitFor(),
      waitFor(),
      waitFor(),
    ];
    const fails = node('code', { code: 'throw new Error("stop")' });
    const loop = node('for_each', { items: '[1]', on_item_error: 'null', output: '', body_node: first.id });
    link(begin, loop);
    link(first, [stopped, failing]);
    link(failing, fails);
    link(loop, hold);
    const nodes = [begin, loop, first, stopped, failing, fails, hold];
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(nodes));
    const runId = (await api.run(workflowId)).data.id;
    const urls = await eventually(async () => {
      const path = `/workflows/${workflowId}/history/${runId}/iterations/?node=${loop.id}`;
      const { body } = await api.get<{ items: { nodes: Record<string, NodeEntry> }[] }>(path);
      const entries = body.items[0]?.nodes ?? {};
      const found = [stopped, failing].map(({ id }) => entries[id]?.waiting?.callback_url);
      return found.every((url) => url !== undefined) && found;
    });
    assert.deepEqual(await callBack(urls[1]!), { status: 200, accepted: true });
    await untilWaiting(api, runId, hold.id);
    assert.equal((await callBack(urls[0]!, 'late')).status, 410);
    assert.equal((await callBack(urls[1]!, 'again')).status, 200, 'this one was accepted');
    assert.equal((await api.poll(runId)).data.status, 'in progress');
    await cancelRun(stack, runId);
  });

  it('text of any content type is accepted, JSON is parsed, and bytes that are no text are refused', async () => {
    for (const [body, contentType, json] of [
      ['a=1&b=2', 'application/x-www-form-urlencoded', undefined],
      ['{ "n": 7 }', 'text/plain', '{"n":7}'],
      ['{"broken"', 'application/json', undefined],
      ['"text"', 'application/json', '"text"'],
      ['', 'application/octet-stream', undefined],
      ['grüße \u{1F600}', 'text/plain; charset=utf-8', undefined],
    ] as const) {
      const { url, runId, pause } = await startWaiting();
      assert.deepEqual(await callBack(url, body, contentType), { status: 200, accepted: true });
      const end = await api.pollToEnd(runId);
      assert.equal(end.data.data![pause.id]!.result!.content, body);
      const { body: text } = await rawPoll(api, runId);
      assert.ok(json === undefined ? !text.includes('"json":') : text.includes(`"json":${json}`), text);
    }
    const { url, runId } = await startWaiting();
    const binary = await fetch(url, { method: 'POST', body: new Uint8Array([0xff, 0xfe, 0x00]) });
    assert.equal(binary.status, 400);
    const tooLarge = await fetch(url, { method: 'POST', body: 'x'.repeat(10 * 1024 * 1024 + 1) });
    assert.equal(tooLarge.status, 413);
    const large = 'x'.repeat(10 * 1024 * 1024);
    assert.deepEqual(await callBack(url, large), { status: 200, accepted: true });
    await eventually(async () => (await rawPoll(api, runId)).body.length > large.length, { timeoutMs: 30_000 });
  });

  it('the body is stored encrypted, and the token as a hash and encrypted', async () => {
    const slow = http(`${target.url}/hold/sealed`);
    const { url, runId } = await startWaiting({}, [slow]);
    await callBack(url, 'nobody reads this in the database');
    const [row] = await queryDatabase<Record<string, unknown>>(stack, 'SELECT * FROM waits WHERE run_id = $1', [runId]);
    const text = Object.values(row!).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    );
    const token = url.split('/').at(-2)!;
    assert.ok(!text.some((value) => value.includes('nobody reads') || value.includes(token)));
    assert.ok(row!['answer_enc'] instanceof Buffer && row!['token_enc'] instanceof Buffer);
    target.release('/hold/sealed');
  });

  it('a lost signal is sent again', async () => {
    const { url, runId, pause } = await startWaiting();
    const box = createSecretBox([Buffer.from(secretsOf(stack).SECRETS_KEY, 'base64')]);
    const answerEnc = box.seal('taken', 'callback-answer', runId, '', pause.id);
    // Simulates a process that crashed after the commit and before the signal.
    await queryDatabase(
      stack,
      `UPDATE waits SET answer_enc = $2, answered_at = now() - interval '10 s' WHERE run_id = $1`,
      [runId, answerEnc],
    );
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.data![pause.id]!.result!.content, 'taken');
    assert.equal((await callBack(url)).status, 410);
  });

  it('a node that gets a signal without an answer goes on waiting', async () => {
    const { url, runId, pause } = await startWaiting();
    await withTemporal(stack, async (client) => {
      const handle = client.workflow.getHandle(runId);
      await handle.signal('wake', { path: '', nodeId: pause.id });
      // The run has taken the signal once a task of the workflow has ended after it and no activity is running.
      await eventually(async () => {
        const { raw } = await handle.describe();
        if (raw.pendingWorkflowTask || (raw.pendingActivities?.length ?? 0) > 0) return false;
        const events = (await handle.fetchHistory()).events ?? [];
        const signalled = events.findIndex((event) => event.workflowExecutionSignaledEventAttributes);
        return signalled >= 0 && events.slice(signalled).some((event) => event.workflowTaskCompletedEventAttributes);
      });
    });
    assert.equal((await untilWaiting(api, runId, pause.id)).status, 'in progress');
    await callBack(url, 'now');
    assert.equal((await api.pollToEnd(runId)).data.data![pause.id]!.result!.content, 'now');
  });

  describe('the address', () => {
    it('is shown to members who may run the workflow; others see only what the node waits for', async () => {
      const { url, runId, projectId, workflowId, pause } = await startWaiting();
      const viewer = await viewerOf(projectId);
      const editor = await createAccount(stack);
      await giveRole(stack, editor, projectId, 'editor');
      const reader = await createAccount(stack);
      await giveRole(stack, reader, projectId, 'editor');
      await changeKey(stack, reader, { scope: 'read' });
      const nodePath = `/workflows/${workflowId}/history/${runId}/nodes/${pause.id}/`;
      for (const [account, seen] of [
        [viewer, undefined],
        [editor, url],
        [reader, undefined],
      ] as const) {
        const polled = await untilWaiting(account.api, runId, pause.id);
        const { body: detail } = await account.api.get<NodeEntry>(nodePath);
        const stream = await openEventStream(stack.apiUrl, account.apiKey, runId);
        const event = await eventually(() => stream.events.find(({ data }) => data.id === pause.id));
        stream.close();
        for (const { waiting } of [polled, detail, event.data as NodeEntry]) {
          assert.deepEqual([waiting!.for, waiting!.callback_url], ['callback', seen]);
          assert.equal(waiting!.until, polled.waiting!.until);
        }
      }
      const { status } = await viewer.api.get(`/workflows/${workflowId}/history/${runId}/`);
      assert.equal(status, 200);
      await cancelRun(stack, runId);
    });

    it('is not shown to viewers whose long polls wait together with those of editors', async () => {
      const { url, runId, projectId } = await startWaiting({}, [http(`${target.url}/hold/news`)]);
      const viewer = await viewerOf(projectId);
      const clients = [viewer.api, api];
      const known = await Promise.all(clients.map((client) => rawPoll(client, runId)));
      const news = clients.map((client, index) =>
        rawPoll(client, runId, { 'if-none-match': known[index]!.etag, prefer: 'wait=20' }),
      );
      target.release('/hold/news');
      const [ofViewer, ofEditor] = (await Promise.all(news)).map(({ body }) => body) as [string, string];
      assert.ok(ofEditor.includes(`"callback_url":"${url}"`), ofEditor);
      assert.ok(ofViewer.includes('"waiting":{"for":"callback"') && !ofViewer.includes('callback_url'), ofViewer);
      await cancelRun(stack, runId);
    });

    it('is masked in the rendered input of the node that sends it', async () => {
      const [begin, pause] = [trigger(), node('wait', { mode: 'callback' })];
      const body = { url: `{{ ${pause.id}.callback_url }}` };
      const tell = http(`${target.url}/handed-on`, { method: 'POST', body });
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([begin, tell, pause])));
      const runId = (await api.run(workflowId)).data.id;
      await untilWaiting(api, runId, pause.id);
      const { body: detail } = await api.get<{ input: { body: unknown } }>(
        `/workflows/${workflowId}/history/${runId}/nodes/${tell.id}/`,
      );
      assert.deepEqual(detail.input.body, { url: '********' });
      await cancelRun(stack, runId);
    });

    it('does not replace similar text of a model or a user', async () => {
      const note = {
        text: '"waiting":{"for":"callback"}',
        token_enc: 'AAAA',
        sealed_callback_token: 'AAAA',
        x: '\u001D',
      };
      stack.modelProvider.script('writes-tokens', [
        { toolCalls: [{ name: 'note', arguments: note }] },
        { text: 'done' },
      ]);
      const helper = agent('work', { model_name: 'writes-tokens' }, [
        { endpoint_url: tools.url, require_approval: 'always' },
      ]);
      const { url, runId } = await startWaiting({}, [helper]);
      const requests = await approvalsOf(api, runId, helper.id);
      assert.deepEqual(requests[0]!.arguments, note);
      const { body } = await rawPoll(api, runId);
      assert.equal(body.split(url).length - 1, 1, 'the address is there once');
      await cancelRun(stack, runId);
    });
  });

  it('version and ETag change when a wait begins and when it ends', async () => {
    const [begin, pause] = [trigger(), node('wait', { mode: 'callback' })];
    const slow = http(`${target.url}/hold/versions`);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([begin, slow, pause])));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requestsTo('/hold/versions').length === 1);
    const before = await rawPoll(api, runId);
    target.release('/hold/versions');
    const url = await callbackUrlOf(api, runId, pause.id);
    const during = await rawPoll(api, runId);
    const unchanged = await api.get(`/workflows/workflow_result/?id=${runId}`, {
      headers: { 'if-none-match': during.etag },
    });
    assert.equal(unchanged.status, 304);
    const news = rawPoll(api, runId, { 'if-none-match': during.etag, prefer: 'wait=20' });
    await callBack(url, 'done');
    const after = await news;
    assert.ok(before.version < during.version && during.version < after.version);
    assert.equal(new Set([before.etag, during.etag, after.etag]).size, 3);
  });
});

interface RawPoll {
  etag: string;
  version: number;
  body: string;
}

async function rawPoll(client: ApiClient, runId: string, headers: Record<string, string> = {}): Promise<RawPoll> {
  const answer = await client.get<{ data: { version: number } }>(`/workflows/workflow_result/?id=${runId}`, {
    headers,
  });
  assert.equal(answer.status, 200);
  const { version } = answer.body.data;
  return { etag: answer.headers.get('etag')!, version, body: JSON.stringify(answer.body) };
}
