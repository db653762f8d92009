import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startApiProcess } from '../../harness/stack/api-process.js';
import { converse, say } from '../api/conversations/chats.js';
import { deliverTo, makeStartHook, standardHeaders } from '../api/hooks/hook-sender.js';
import { createHook, renewSecret, typesOf, verify } from '../api/webhook-receiver.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import { queryDatabase } from '../support/inspect.js';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  agent,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  node as nodeOf,
  resultOf,
  trigger,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { makeDataDir } from '../../harness/stack/supervisor.js';
import { createFileClient } from '../support/upload.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { taskOf } from '../support/waiting.js';

const ADMIN = path.resolve(import.meta.dirname, '../../dist/cli/admin.js');
const MASK = '********';

interface Reencryption {
  complete: boolean;
  left: number;
  tables: { table: string; column: string; resealed: number; left: number }[];
}

interface Status {
  keys: string[];
  unreadable: number;
  tables: { table: string; column: string; values: Record<string, number> }[];
}

describe('rotation of SECRETS_KEY', function () {
  this.timeout(300_000);
  const [old, fresh] = [newKey(), newKey()];
  const token = `token-${randomUUID()}`;
  const providerKey = `sk-${randomUUID()}`;
  let dataDir: string;
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    dataDir = makeDataDir();
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
  });
  after(async () => {
    await Promise.all([stack.stop(), target.close(), tools.close()]);
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function start(secretsKey: string): Promise<void> {
    stack = await startStack({ dataDir, env: { SECRETS_KEY: secretsKey, WEBHOOK_RETRY_SCHEDULE: '0.2,0.4,1,1,1,1' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    stack.modelProvider.script('rotation', (request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? { text: 'done' }
        : { toolCalls: [{ name: 'note', arguments: { text: token } }] },
    );
  }

  async function restart(secretsKey: string): Promise<void> {
    await stack.stop();
    await start(secretsKey);
  }

  async function admin<T>(secretsKey: string, ...args: string[]): Promise<T> {
    // The stored file is larger than new files may be. That must not keep it from being sealed again.
    const limit = { MAX_FILE_BYTES: '100000' };
    const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, SECRETS_KEY: secretsKey, ...limit };
    const { stdout } = await promisify(execFile)(process.execPath, [ADMIN, ...args], { env });
    return JSON.parse(stdout) as T;
  }

  const keysInUse = async (secretsKey: string): Promise<string[]> => {
    const { tables } = await admin<Status>(secretsKey, 'secrets', 'status');
    return [...new Set(tables.flatMap(({ values }) => Object.keys(values)))];
  };

  const pending = (runId: string): Promise<string> =>
    eventually(async () => {
      const address = `/workflows/workflow_run/${runId}/agent-approval/`;
      const { body } = await api.get<{ request_id: string; status: string }[]>(address);
      return body.find(({ status }) => status === 'pending')?.request_id;
    });

  const approve = async (runId: string, requestId: string, change: object = {}): Promise<void> => {
    const address = `/workflows/workflow_run/${runId}/agent-approval/${requestId}/approve/`;
    const { body } = await api.post<Envelope>(address, { body: change });
    assert.equal(body.status, 200);
  };

  /** Creates a connection that has tokens of a provider, and for which a new sign-in has started. */
  async function makeConnection(projectId: number): Promise<void> {
    const body = { name: 'c', kind: 'bearer', origins: [target.url], secrets: { token } };
    const made = await api.post<{ id: number }>(`/projects/${projectId}/connections/`, { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id } = made.body;
    const box = createSecretBox([Buffer.from(old, 'base64')]);
    const state = randomBytes(32).toString('hex');
    const flow = box.seal('flow', 'connection-flow', id, state);
    const tokens = box.seal('tokens', 'connection-tokens', projectId, id);
    await queryDatabase(stack, `UPDATE connections SET tokens_enc = '\\x${tokens.toString('hex')}' WHERE id = ${id}`);
    await queryDatabase(
      stack,
      `INSERT INTO connection_sign_ins (state_hash, connection_id, user_id, cookie_hash, flow_enc, expires_at)
        SELECT '\\x${state}', ${id}, id, '\\x00', '\\x${flow.toString('hex')}', now() + interval '1 day' FROM users LIMIT 1`,
    );
  }

  /** Sends two messages that contain the secret; the second one waits for the first. */
  async function talk(projectId: number): Promise<void> {
    const begin = trigger([{ id: 'token', is_secret: true, input_requirements: true }]);
    const workflowId = await api.createWorkflow(
      projectId,
      drawing(linkInRow([begin, nodeOf('wait', { mode: 'callback' })])),
    );
    assert.equal((await api.patch(`/workflows/${workflowId}/`, { body: { is_chat: true } })).status, 200);
    const { id } = await converse(api, workflowId, { inputs: { token } });
    for (let time = 0; time < 2; time += 1) await say(api, id, `It is ${token}`);
  }

  /** Creates a pin, a case, its run and its result, and the fixed result of a node. */
  async function tryOut(workflowId: number): Promise<void> {
    const { body } = await api.get<{ data: { nodes: { id: string }[] } }>(`/workflows/${workflowId}/`);
    const [begin] = body.data.nodes;
    const pin = { body: { result: { content: 'x' } } };
    assert.equal((await api.put(`/workflows/${workflowId}/pins/${begin!.id}/`, pin)).status, 200);
    const made = await api.post(`/workflows/${workflowId}/cases/`, {
      body: { name: 'c', input: {}, mocks: { [begin!.id]: { content: 'x' } }, expect: [] },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const run = await api.post<{ id: string }>(`/workflows/${workflowId}/cases/run/`, { body: {} });
    assert.equal(run.status, 201);
    const at = `/workflows/${workflowId}/case-runs/${run.body.id}/`;
    await eventually(async () => (await api.get<{ status: string }>(at)).body.status !== 'in progress');
  }

  it('goes on with everything after the old key is gone, and waits where one is missing', async () => {
    await start(old);
    // One secret of each kind: a secret default, a credential header, a secret input and its echo, an agent's turn and
    // tool calls, one of them with arguments that a person has changed, the item of a loop, a callback and its address,
    // a person's answer, a secret that another run received, a hook with its address and its secret, a draft.
    const hook = await createHook(api, target);
    const newest = await renewSecret(api, hook.projectId);
    const attach = ['provider-key', 'attach', '--project', String(hook.projectId), '--provider', 'fake'];
    await admin(old, ...attach, '--key', providerKey);
    const begin = trigger([
      { id: 'token', is_secret: true },
      { id: 'fallback', is_secret: true, default_value: `default-${token}` },
    ]);
    const echo = http(`${target.url}/echo`, { headers: { 'x-token': '{{ input.token }} {{ input.fallback }}' } });
    const server = { endpoint_url: tools.url, require_approval: 'always', headers: { 'x-api-key': `header-${token}` } };
    const asked = agent('Note it', { model_name: 'rotation' }, [server]);
    const last = llm(`Sum up ${resultOf(echo, 'json.headers')}`);
    const [item, called] = [nodeOf('set', { value: '' }), nodeOf('wait', { mode: 'callback' })];
    const each = nodeOf('for_each', { items: ['{{ input.token }}'], body_node: item.id });
    item.data['value'] = `{{ ${each.id}.item }}`;
    const calls = http(`{{ ${called.id}.callback_url }}`, { method: 'POST', body: { of: '{{ input.token }}' } });
    const person = nodeOf('human', { message: 'Well?', fields: [{ id: 'note', title: 'Note', type: 'text' }] });
    const gives = nodeOf('output', { value: '{{ input.given }}' });
    const other = await api.createWorkflow(hook.projectId, drawing(linkInRow([trigger(), gives])));
    const sub = nodeOf('workflow', { workflow_id: other, input: { given: '{{ input.token }}' } });
    linkInRow([begin, each, calls, called, person, sub, echo]);
    link(echo, asked);
    link(asked, last);
    const data = drawing([begin, each, item, calls, called, person, sub, echo, asked, last]);
    // The first version of the workflow has the same secrets.
    const asFirst = { ...last, data: { ...last.data, label: 'First version' } };
    const earlier = { ...data, nodes: data.nodes.map((node) => (node.id === last.id ? asFirst : node)) };
    const workflow = await api.createWorkflow(hook.projectId, earlier);
    assert.equal((await api.patch(`/workflows/${workflow}/`, { body: { data } })).status, 200);
    const idempotency = { text: JSON.stringify({ token }), headers: { 'idempotency-key': 'rotation' } };
    const startRun = () => api.post<Envelope>(`/workflows/${workflow}/run/`, idempotency);
    const first = (await startRun()).body.data.id;
    const second = (await api.run(workflow, { token })).data.id;
    const ended = (await api.run(workflow, { token })).data.id;
    const answer = async (runId: string): Promise<void> => {
      const task = await taskOf(api, runId, person.id);
      const body = { action: 'done', values: { note: `it is ${token}` } };
      assert.equal((await api.post(`/human-tasks/${task}/answer/`, { body })).status, 200);
    };
    for (const runId of [first, second, ended]) await answer(runId);
    const requests = [await pending(first), await pending(second)];
    await approve(ended, await pending(ended), { arguments: { text: `edited ${token}` } });
    assert.equal((await api.pollToEnd(ended)).data.status, 'succeed');
    const starts = await makeStartHook(api, other, { verify: 'standard-webhooks' });
    const scheduled = { cron: '0 0 1 1 *', input: { token } };
    assert.equal((await api.post(`/workflows/${workflow}/schedules/`, { body: scheduled })).status, 201);
    await makeConnection(hook.projectId);
    const draft = await api.put(`/workflows/${workflow}/draft/`, { body: { data: earlier, base_version: 2 } });
    assert.equal(draft.status, 200, JSON.stringify(draft.body));
    await tryOut(other);
    await talk(hook.projectId);
    const bytes = randomBytes(150_000);
    const file = await createFileClient(stack).upload(hook.projectId, bytes);
    const bytesNow = () => createFileClient(stack).bytesOf(file.file_id);
    const inUse = await keysInUse(old);
    assert.equal(inUse.length, 1);

    // The new key alone, too early: nothing is lost, and both API and command report what is missing.
    await restart(fresh);
    const tooEarly = await admin<Status>(fresh, 'secrets', 'status');
    assert.ok(tooEarly.unreadable > 0);
    assert.equal((await bytesNow())[0], 500);
    const refused = await api.post(`/workflows/${workflow}/history/${ended}/re-run/`);
    assert.equal(refused.status, 500);
    assert.deepEqual(refused.body, { detail: 'A server error occurred.', code: 'error' });
    await eventually(() => /MissingKeyError.*SECRETS_KEY/.test(stack.logs()));
    await approve(first, requests[0]!);
    await eventually(() => /"secret_unreadable"|MissingKeyError/.test(stack.logs()));
    assert.equal((await api.poll(first)).data.status, 'in progress');
    const hopeless = await admin<Reencryption>(fresh, 'secrets', 'reencrypt');
    assert.equal(hopeless.complete, false);
    assert.ok(hopeless.left > 0 && hopeless.tables.every(({ resealed }) => resealed === 0));
    for (const key of [old, fresh]) assert.equal(stack.logs().includes(key), false);

    // The new key in front of the old one: the waiting run goes on, and everything is sealed with the new key.
    await restart(`${fresh},${old}`);
    assert.equal((await api.pollToEnd(first)).data.status, 'succeed');
    const done = await admin<Reencryption>(`${fresh},${old}`, 'secrets', 'reencrypt');
    assert.equal(done.complete, true);
    assert.equal(done.left, 0);
    const unsealed = done.tables
      .filter(({ resealed }) => resealed === 0)
      .map(({ table, column }) => `${table}.${column}`);
    // Only builds before the migration 0007-kept-baselines wrote this column.
    assert.deepEqual(unsealed, ['answer_baselines.secrets_enc'], 'the drill has a value of every other kind');
    assert.deepEqual((await keysInUse(fresh)).length, 1);
    assert.notDeepEqual(await keysInUse(fresh), inUse);
    const again = await admin<Reencryption>(`${fresh},${old}`, 'secrets', 'reencrypt');
    assert.ok(again.complete && again.tables.every(({ resealed }) => resealed === 0));

    // The new key alone.
    await restart(fresh);
    assert.ok((await bytesNow())[1].equals(bytes));
    await approve(second, requests[1]!);
    const { data: end } = await api.pollToEnd(second);
    assert.equal(end.status, 'succeed');
    assert.equal(end.data![begin.id]!.result!['token'], MASK);
    assert.equal((await startRun()).body.data.id, first, 'the idempotency key is known');
    const changed = await api.post(`/workflows/${workflow}/run/`, { ...idempotency, text: '{}' });
    assert.equal(changed.status, 400);
    const listed = await api.get<{ items: { url: string }[] }>(`/workflows/${other}/hooks/`);
    const { pathname } = new URL(listed.body.items[0]!.url);
    assert.equal(pathname, new URL(starts.url).pathname);
    const signed = standardHeaders(starts.secret!, 'rotation', '{}');
    assert.equal((await deliverTo(`${stack.apiUrl}${pathname}`, '{}', signed)).status, 202);
    const { body: schedules } = await api.get<{ items: { input: object }[] }>(`/workflows/${workflow}/schedules/`);
    assert.deepEqual(schedules.items[0]!.input, { token: MASK });
    const rerun = await api.post<Envelope>(`/workflows/${workflow}/history/${ended}/re-run/`);
    assert.equal(rerun.status, 201);
    await answer(rerun.body.data.id);
    await approve(rerun.body.data.id, await pending(rerun.body.data.id));
    assert.equal((await api.pollToEnd(rerun.body.data.id)).data.status, 'succeed');
    const sent = target.requestsTo('/echo').at(-1)!;
    assert.equal(sent.headers['x-token'], `${token} default-${token}`);
    assert.deepEqual(tools.callsOf('note').at(-1)!.arguments, { text: token });
    assert.equal(tools.callsOf('note').at(-1)!.headers['x-api-key'], `header-${token}`);
    const models = [...stack.modelProvider.requestsFor('rotation'), ...stack.modelProvider.requestsFor('test-model')];
    assert.ok(models.length > 0);
    for (const { headers } of models) assert.equal(headers.authorization, `Bearer ${providerKey}`);
    const delivered = await eventually(() => {
      const received = target.requestsTo(hook.path);
      return typesOf(received, rerun.body.data.id).includes('workflow_run.succeeded') && received;
    });
    verify(delivered.at(-1)!, newest);
    verify(delivered.at(-1)!, hook.secret); // the previous secret still signs too
  });

  it('of INTERNAL_SERVICE_TOKEN needs no pause: new and old are taken, and then the new one alone', async () => {
    const [before, after] = [`internal-${randomUUID()}`, `internal-${randomUUID()}`];
    const statusWith = async (apiUrl: string, given: string): Promise<number> => {
      const headers = { authorization: `Bearer ${given}` };
      const client = createApiClient(apiUrl);
      const address = `/workflows/execution-update/${randomUUID()}/`;
      return (await client.post(address, { headers, body: { sequence: 1, status: 'in progress' } })).status;
    };
    const phases: [tokens: string, before: number, after: number][] = [
      [before, 404, 401],
      [`${before},${after}`, 404, 404],
      [`${after}, ${before}`, 404, 404],
      [after, 401, 404],
    ];
    for (const [tokens, expectBefore, expectAfter] of phases) {
      const extra = await startApiProcess(stack, { INTERNAL_SERVICE_TOKEN: tokens });
      try {
        assert.equal(await statusWith(extra.apiUrl, before), expectBefore, tokens);
        assert.equal(await statusWith(extra.apiUrl, after), expectAfter, tokens);
        assert.equal(await statusWith(extra.apiUrl, `${before},${after}`), 401);
        for (const one of [before, after]) assert.equal(extra.output().includes(one), false);
      } finally {
        await extra.stop();
      }
    }
  });
});

function newKey(): string {
  return randomBytes(32).toString('base64');
}
