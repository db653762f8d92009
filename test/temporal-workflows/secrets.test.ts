import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { drawing, http, link, llm, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, queryDatabase, withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const SECRET = 'canary/9f3+A7 "zebra"=&';
const DEFAULT_SECRET = 'default-canary-51e0c77b';
const PLAIN = 'plain-canary-82d1b6';

/** The spellings in which a secret could be shown. */
function spellings(secret: string): string[] {
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64').slice(0, -4),
    Buffer.from(secret).toString('hex'),
  ];
}

describe('secrets of a run', function () {
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

  function assertClean(text: string, where: string, secrets = [SECRET, DEFAULT_SECRET]): void {
    for (const spelling of secrets.flatMap(spellings))
      assert.equal(text.includes(spelling), false, `${spelling} is in ${where}`);
  }

  it('reach the target and are in no answer, no row, no log and nowhere in Temporal', async () => {
    const start = trigger([
      { id: 'token', type: 'text', is_secret: true, input_requirements: true },
      { id: 'fallback', type: 'text', is_secret: true, default_value: DEFAULT_SECRET },
      { id: 'note', type: 'text' },
    ]);
    const call = http(`${target.url}/canary`, {
      method: 'POST',
      headers: { authorization: 'Bearer {{ input.fallback }}', 'x-basic': '{{ input.note }}' },
      body: { token: '{{ input.token }}', copy: `{{ ${start.id}.result.token }}` },
    });
    // The target echoes its requests, so every later result contains the secret too.
    const next = http(`${target.url}/canary-next?t={{ input.token }}`, {
      headers: { 'x-echo': resultOf(call, 'json.body') },
    });
    const model = llm(`Summarise ${resultOf(call)}`, { settings: { model_name: 'canary-model' } });
    link(start, call);
    link(call, [next, model]);
    const project = await api.createProject();
    const created = await api.post<{ id: number }>('/workflows/', {
      body: { project, title: 'canary', data: drawing([start, call, next, model]) },
    });
    assertClean(JSON.stringify(created.body), 'the created workflow');
    const workflow = created.body.id;
    const input = { token: SECRET, note: PLAIN };
    const started = await api.run(workflow, input);
    assertClean(JSON.stringify(started), 'the run start');
    const runId = started.data.id;
    const end = await api.pollToEnd(runId);
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));

    const [request] = target.requestsTo('/canary');
    assert.equal(request!.headers.authorization, `Bearer ${DEFAULT_SECRET}`);
    assert.deepEqual(JSON.parse(request!.body), { token: SECRET, copy: SECRET });
    assert.match(target.requestsTo('/canary-next')[0]!.headers['x-echo'] as string, /canary\/9f3/);
    assert.match(String(stack.modelProvider.requestsFor('canary-model')[0]!.messages[0]!.content), /canary\/9f3/);

    const triggerResult = end.data.data![start.id]!.result!;
    assert.equal(triggerResult['token'], '********');
    assert.equal(triggerResult['fallback'], '********');
    assert.equal(triggerResult['note'], PLAIN);
    const paths = [
      `/workflows/workflow_result/?id=${runId}`,
      `/workflows/${workflow}/`,
      `/workflows/?project=${project}`,
      `/workflows/${workflow}/input-fields/`,
      `/workflows/${workflow}/check_workflow/`,
      `/workflows/${workflow}/history/`,
      `/workflows/${workflow}/history/${runId}/`,
    ];
    for (const path of paths) {
      const { status, body } = await api.get(path);
      assert.equal(status, 200, path);
      assertClean(JSON.stringify(body), path);
    }

    const events = (await historyOf(stack, runId)).map(({ text }) => text).join('\n');
    assertClean(events, 'the Temporal history', [
      SECRET,
      DEFAULT_SECRET,
      PLAIN,
      'Summarise',
      target.url,
      'canary-model',
    ]);
    const description = await withTemporal(stack, (client) => client.workflow.getHandle(runId).describe());
    assertClean(
      JSON.stringify(description, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      ),
      'the description',
    );

    for (const table of [
      'workflows',
      'graph_snapshots',
      'runs',
      'node_results',
      'provider_calls',
      'billing_transactions',
    ]) {
      const rows = await queryDatabase<{ text: string }>(stack, `SELECT t::text AS text FROM ${table} t`);
      assertClean(rows.map(({ text }) => text).join('\n'), `table ${table}`);
    }
    assertClean(stack.logs(), 'the logs', [SECRET, DEFAULT_SECRET, PLAIN]);
    const { api_key, internal_token } = stack.stack;
    const secretsKey = (JSON.parse(readFileSync(`${stack.dataDir}/secrets.json`, 'utf8')) as Record<string, string>)[
      'SECRETS_KEY'
    ]!;
    for (const value of [api_key, internal_token, secretsKey]) assert.equal(stack.logs().includes(value), false);
  });

  it('do not leave by the error message of a node', async () => {
    const start = trigger([{ id: 'token', is_secret: true }]);
    const call = http(`${target.url}/refuses`, { method: 'POST', body: '{{ input.token }}' });
    target.on('/refuses', ({ body }) => ({
      status: 400,
      body: `bad token ${body}, ${Buffer.from(body).toString('base64')}`,
    }));
    link(start, call);
    const run = await api.runToEnd(drawing([start, call]), { token: SECRET });
    assert.equal(run.status, 'failed');
    const { message } = run.nodes[call.id]!.error!;
    assert.match(message, /bad token \*{8}/);
    assertClean(message, 'the error message');
    assertClean((await historyOf(stack, run.runId)).map(({ text }) => text).join('\n'), 'the Temporal history');
  });

  it('are masked in their own field however short they are, and whatever their type', async () => {
    const values = { pin: '1234', flag: true, list: ['ab', 77], deep: { key: 1 } };
    const start = trigger(Object.keys(values).map((id) => ({ id, is_secret: true })));
    const call = http(`${target.url}/short-secrets`, {
      method: 'POST',
      body: { pin: '{{ input.pin }}', flag: '{{ input.flag }}' },
    });
    link(start, call);
    const run = await api.runToEnd(drawing([start, call]), values);
    const masked = { pin: '********', flag: '********', list: '********', deep: '********' };
    assert.deepEqual(run.nodes[start.id]!.result, { ...masked, content: JSON.stringify(masked) });
    assert.deepEqual(JSON.parse(target.requestsTo('/short-secrets')[0]!.body), { pin: '1234', flag: true });
    const rows = await queryDatabase<{ result: string }>(
      stack,
      'SELECT result::text AS result FROM node_results WHERE run_id = $1 AND node_id = $2',
      [run.runId, start.id],
    );
    assert.equal(rows[0]!.result.includes('1234'), false);
  });

  it('do not leave in part by a message that cuts them', async () => {
    const secret = 'AAAABBBBCCCCDDDDEEEEFFFF';
    const start = trigger([{ id: 'pw', is_secret: true }]);
    target.on('/cuts', ({ body }) => ({ status: 400, body }));
    for (let shift = 270; shift < 300; shift += 5) {
      const call = http(`${target.url}/cuts`, { method: 'POST', body: `${'p'.repeat(shift)}{{ input.pw }}` });
      start.data.next_nodes = [];
      link(start, call);
      const run = await api.runToEnd(drawing([start, call]), { pw: secret });
      assert.equal(run.nodes[call.id]!.error!.message.includes('AAAA'), false, `cut ${shift} characters in`);
    }
  });

  it('of a trigger that is not the start are as secret', async () => {
    const start = trigger();
    const second = trigger([{ id: 'pw', is_secret: true }]);
    link(start, second);
    const run = await api.runToEnd(drawing([start, second]), { pw: 'SecondTriggerSecret' });
    assert.equal(run.nodes[second.id]!.result!['pw'], '********');
    const record = await api.history(run.workflowId, run.runId);
    assertClean(JSON.stringify([run, record]), 'any answer', ['SecondTriggerSecret']);
    const rows = await queryDatabase<{ text: string }>(stack, 'SELECT t::text AS text FROM runs t WHERE id = $1', [
      run.runId,
    ]);
    assertClean(rows[0]!.text, 'the row of the run', ['SecondTriggerSecret']);
  });
});
