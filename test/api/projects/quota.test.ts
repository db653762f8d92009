import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { withAdvisoryLock } from '../../../db/core/advisory-lock.js';
import { createDatabase } from '../../../db/core/client.js';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, link, linkInRow, llm, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { callbackUrlOf, taskOf } from '../../support/waiting.js';
import { assertBytesRight, foldBytes } from '../../support/stored-bytes.js';
import { makeStartHook, type StartHook } from '../hooks/hook-sender.js';
import { backfill, findSchedule, makeSchedule } from '../schedules/schedule-maker.js';

const LIMIT = 1024 * 1024;
const REFUSED = { detail: 'The project would store more bytes than it may.', code: 'quota_exceeded' };

describe('a project beyond MAX_PROJECT_BYTES', function () {
  this.timeout(120_000);
  let stack: StartedStack;
  let api: ApiClient;

  before(async function () {
    this.timeout(200_000);
    stack = await startStack({ env: { MAX_PROJECT_BYTES: '1 MiB' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    const told = () => queryDatabase(stack, 'SELECT bytes FROM stored_bytes_limit');
    await eventually(async () => (await told()).length === 1);
  });
  after(() => stack.stop());

  const withText = (length: number) => {
    const start = trigger();
    return drawing([{ ...start, data: { ...start.data, tooltip: 'x'.repeat(length) } }]);
  };
  /** Fills the project until it may store only a few more bytes. */
  async function fill(projectId: number): Promise<void> {
    const room = LIMIT - (await assertBytesRight(stack, projectId)) - 40;
    await api.createWorkflow(projectId, withText(room - Buffer.byteLength(JSON.stringify(withText(0)))));
    await foldBytes(stack);
  }
  async function fullProject(data = withText(0)): Promise<{ projectId: number; id: number }> {
    const projectId = await api.createProject();
    const id = await api.createWorkflow(projectId, data);
    await fill(projectId);
    return { projectId, id };
  }

  it('refuses every request that would add to it with 413, and changes nothing', async () => {
    const { projectId, id } = await fullProject();
    const body = { data: withText(1000) };
    const before = await assertBytesRight(stack, projectId);
    const exported = await api.get<object>(`/workflows/${id}/export/`);
    const schedule = { cron: '0 0 1 1 *', input: { a: 'x'.repeat(1000) } };
    const service = (count: number) => ({
      openapi: '3.0.0',
      info: { title: 'Service', version: '1' },
      servers: [{ url: 'https://api.example.com' }],
      paths: Object.fromEntries(Array.from({ length: count }, (_, at) => [`/${at}`, { get: { responses: {} } }])),
    });
    const services = `/projects/${projectId}/services/`;
    const none = await api.post<{ id: string }>(services, { body: { openapi: service(0) } });
    assert.equal(none.status, 201, JSON.stringify(none.body));
    const hook = await api.post<{ url: string }>(`/workflows/${id}/hooks/`, { body: { verify: 'none' } });
    const refused = [
      await api.post('/workflows/', { body: { project: projectId, title: 'one more', ...body } }),
      await api.patch(`/workflows/${id}/`, { body }),
      await api.patch(`/workflows/${id}/`, { body: { readme_guide: 'x'.repeat(1000) } }),
      await api.put(`/workflows/${id}/draft/`, { body: { ...body, base_version: 1 } }),
      await api.post(`/workflows/${id}/duplicate/`),
      await api.post(`/projects/${projectId}/import/`, { body: exported.body }),
      await api.post(`/workflows/${id}/schedules/`, { body: schedule }),
      await api.post(`/workflows/${id}/run/`, { body: { a: 'x'.repeat(1000) } }),
      await api.post(services, { body: { openapi: service(20) } }),
      await api.put(`${services}${none.body.id}/`, { body: { openapi: service(20) } }),
    ];
    for (const answer of refused) assert.deepEqual([answer.status, answer.body], [413, REFUSED]);
    const delivered = await fetch(hook.body.url, { method: 'POST', body: JSON.stringify({ a: 'x'.repeat(1000) }) });
    assert.deepEqual([delivered.status, await delivered.json()], [413, REFUSED]);
    const file = new FormData();
    file.append('file', new Blob(['x'.repeat(1000)]), 'a.txt');
    const withFile = await makeStartHook(api, id);
    const uploaded = await fetch(withFile.url, { method: 'POST', body: file });
    assert.deepEqual([uploaded.status, await uploaded.json()], [413, REFUSED]);
    const hooks = await api.get<{ items: StartHook[] }>(`/workflows/${id}/hooks/`);
    for (const { last_delivery: last } of hooks.body.items) {
      assert.equal(last?.status, 413, 'the page of the hook shows it');
    }
    assert.equal(await assertBytesRight(stack, projectId), before);
    assert.equal((await api.get<{ total: number }>(`/services/${none.body.id}/actions/`)).body.total, 0);
    // Changes that add nothing, and other projects, are accepted as before.
    assert.equal((await api.patch(`/workflows/${id}/`, { body: { title: 'another title' } })).status, 200);
    assert.equal((await api.get(`/workflows/${id}/`)).status, 200);
    assert.equal((await api.runToEnd(withText(0))).status, 'succeed');
  });

  it('refuses the first of several requests in quick succession that would exceed the limit', async () => {
    const projectId = await api.createProject();
    const body = { project: projectId, title: 'one of many', data: withText(LIMIT / 4) };
    const db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 1,
      applicationName: 'fold',
      onError: () => undefined,
    });
    try {
      // While the lock is held, the service does not fold the changes of stored bytes into their sums.
      const statuses = await withAdvisoryLock(db, 'stored-bytes', async (trx) => {
        await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(trx);
        const seen: number[] = [];
        for (let index = 0; index < 6; index += 1) seen.push((await api.post('/workflows/', { body })).status);
        return seen;
      });
      assert.deepEqual(statuses, [201, 201, 201, 413, 413, 413]);
    } finally {
      await db.destroy();
    }
    assert.ok((await assertBytesRight(stack, projectId)) <= LIMIT);
  });

  it('refuses a workflow that is larger than the limit, although nothing is stored yet', async () => {
    const projectId = await api.createProject();
    const body = { project: projectId, title: 'large', data: withText(LIMIT) };
    const answer = await api.post('/workflows/', { body });
    assert.deepEqual([answer.status, answer.body], [413, REFUSED]);
  });

  /** Runs the nodes in a new project and waits for the end of the run. */
  async function runInto(nodes: DrawingNode[], input: object = {}) {
    const projectId = await api.createProject();
    const id = await api.createWorkflow(projectId, drawing(nodes));
    const { data } = await api.run(id, input);
    return { projectId, ...(await api.pollToEnd(data.id)).data, runId: data.id };
  }

  it('a node whose result does not fit fails with quota_exceeded', async () => {
    const [start, large] = [trigger(), node('code', { code: 'return "x".repeat(600000)' })];
    link(start, large);
    const { status, data, projectId } = await runInto([start, large]);
    assert.equal(status, 'failed');
    assert.equal(data?.[large.id]?.error?.code, 'quota_exceeded');
    await assertBytesRight(stack, projectId);
  });

  it('a model call whose answer does not fit is paid for, and not repeated', async () => {
    const [start, model] = [trigger(), llm('hello')];
    link(start, model);
    const { projectId, id } = await fullProject(drawing([start, model]));
    await queryDatabase(stack, 'UPDATE stored_bytes_limit SET bytes = bytes + 2000');
    try {
      stack.modelProvider.script('test-model', { text: 'x'.repeat(5000) });
      const { data } = await api.run(id);
      const ended = await api.pollToEnd(data.id);
      assert.equal(ended.data.data?.[model.id]?.error?.code, 'quota_exceeded');
      const paid = (await transactionsOf(stack, data.id)).find(({ operation }) => operation === 'llm');
      assert.deepEqual([paid?.status, Number(paid?.amount_usd) > 0], ['Error', true]);
      assert.equal(stack.modelProvider.requests.length, 1);
      await assertBytesRight(stack, projectId);
    } finally {
      await queryDatabase(stack, 'UPDATE stored_bytes_limit SET bytes = bytes - 2000');
    }
  });

  it('a loop whose outputs do not fit fails with quota_exceeded', async () => {
    const body = node('set', { value: 'x' });
    const output = '{{ input.text }}'.repeat(60);
    const loop = node('for_each', { items: '{{ input.list }}', body_node: body.id, output });
    const start = trigger();
    link(start, loop);
    const input = { list: [1, 2, 3], text: 'x'.repeat(10_000) };
    const { status, data, projectId } = await runInto([start, loop, body], input);
    assert.equal(status, 'failed');
    assert.equal(data?.[loop.id]?.error?.code, 'quota_exceeded');
    await assertBytesRight(stack, projectId);
  });

  it('a callback and an answer of a person that do not fit are refused with 413, and may come again', async () => {
    const start = trigger();
    const wait = node('wait', { mode: 'callback', timeout: 60 });
    const human = node('human', { message: 'Well?', fields: [{ id: 'text' }] });
    linkInRow([start, wait, human]);
    const projectId = await api.createProject();
    const id = await api.createWorkflow(projectId, drawing([start, wait, human]));
    const { data: run } = await api.run(id);
    const url = await callbackUrlOf(api, run.id, wait.id);
    const refused = await fetch(url, { method: 'POST', body: 'x'.repeat(LIMIT) });
    assert.deepEqual([refused.status, await refused.json()], [413, REFUSED]);
    assert.equal((await fetch(url, { method: 'POST', body: 'small' })).status, 200);
    const task = await taskOf(api, run.id, human.id);
    await foldBytes(stack);
    const answer = (text: string) =>
      api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done', values: { text } } });
    const large = await answer('x'.repeat(LIMIT - 1000));
    assert.equal(large.status, 413);
    assert.equal((await answer('small')).status, 200);
    assert.equal((await api.pollToEnd(run.id)).data.status, 'succeed');
  });

  it('a firing of a schedule that does not fit says so, and starts no run', async () => {
    const projectId = await api.createProject();
    const id = await api.createWorkflow(projectId, withText(0));
    const { id: scheduleId } = await makeSchedule(api, id);
    await fill(projectId);
    await backfill(stack, scheduleId, {
      start: new Date('2026-01-01T00:00:00Z'),
      end: new Date('2026-01-01T00:00:01Z'),
    });
    const last = await eventually(async () => (await findSchedule(api, id, scheduleId)).last_firing ?? undefined);
    assert.deepEqual([last.run_id, last.refusal?.code], [null, 'quota_exceeded']);
  });
});
