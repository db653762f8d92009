import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { condition, drawing, http, link, llm, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

describe('run of a graph', function () {
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

  it('runs two parallel branches at the same time: each is answered once the other has been called', async () => {
    target.on('/left', { body: 'left', after: ['/right'] });
    target.on('/right', { body: 'right', after: ['/left'] });
    const [start, left, right] = [trigger(), http(`${target.url}/left`), http(`${target.url}/right`)];
    const join = condition(resultOf(left, 'status_code'), '==', resultOf(right, 'status_code'));
    link(start, [left, right]);
    link(left, join);
    link(right, join);
    const run = await api.runToEnd(drawing([start, left, right, join]));
    assert.equal(run.status, 'succeed');
    const [before, after] = [left, right]
      .map(({ id }) => run.nodes[id]!)
      .toSorted((a, b) => a.started_at!.localeCompare(b.started_at!));
    assert.ok(after!.started_at! < before!.finished_at!, 'one began before the other had ended');
    assert.equal(run.nodes[join.id]!.result!.content, 'true');
  });

  it('runs one side of a diamond over a condition, and the join once', async () => {
    const start = trigger([{ id: 'age', type: 'number' }]);
    const isAdult = condition('{{ input.age }}', '>=', '18');
    const [yes, no] = [http(`${target.url}/yes/{{ input.age }}`), http(`${target.url}/no/{{ input.age }}`)];
    const join = http(`${target.url}/join/{{ input.age }}`, {
      method: 'POST',
      body: { yes: resultOf(yes, 'json.path'), no: resultOf(no, 'json.path') },
    });
    link(start, isAdult);
    link(isAdult, yes, 'true');
    link(isAdult, no, 'false');
    link(yes, join);
    link(no, join);
    const run = await api.runToEnd(drawing([start, isAdult, yes, no, join]), { age: 17 });
    assert.equal(run.status, 'succeed');
    assert.equal(run.nodes[isAdult.id]!.result!.content, 'false');
    assert.equal(run.nodes[yes.id], undefined, 'a node that was not reached is absent');
    assert.equal(target.requestsTo('/yes/17').length, 0);
    assert.equal(target.requestsTo('/no/17').length, 1);
    const joined = target.requestsTo('/join/17');
    assert.equal(joined.length, 1);
    assert.deepEqual(JSON.parse(joined[0]!.body), { yes: '', no: '/no/17' });
    const transactions = await transactionsOf(stack, run.runId);
    assert.deepEqual(
      transactions.map(({ node_id }) => node_id).toSorted(),
      [start, isAdult, no, join].map(({ id }) => id).toSorted(),
    );
  });

  it('ends with the first failed node: siblings in flight are cancelled, nothing after them runs', async () => {
    const start = trigger();
    target.on('/status/418', { status: 418, body: 'status 418', after: ['/hold/slow'] });
    const failing = http(`${target.url}/status/418`);
    // This call is never released, so a run that waited for it would wait until its time-out.
    const slow = http(`${target.url}/hold/slow`, { settings: { timeout: 300 } });
    const never = http(`${target.url}/never`);
    link(start, [failing, slow]);
    link(slow, never);
    const run = await api.runToEnd(drawing([start, failing, slow, never]));
    assert.equal(run.status, 'failed');
    const { started_at: startedAt, finished_at: endedAt, ...failed } = run.nodes[failing.id]!;
    assert.ok(startedAt! <= endedAt!);
    assert.deepEqual(failed, {
      id: failing.id,
      status: 'failed',
      error: { code: 'http_status', message: 'The server answered with status 418: status 418' },
    });
    assert.equal(run.nodes[slow.id]!.status, 'failed');
    assert.equal(run.nodes[slow.id]!.error!.code, 'cancelled');
    assert.equal(run.nodes[never.id], undefined);
    assert.equal(run.nodes[start.id]!.status, 'succeed');
    await eventually(() => target.requestsTo('/hold/slow')[0]!.aborted);
    const record = await api.history(run.workflowId, run.runId);
    assert.equal(record.status, 'Error');
    const transactions = await transactionsOf(stack, run.runId);
    assert.equal(transactions.length, 3);
    assert.equal(transactions.find(({ node_id }) => node_id === failing.id)!.status, 'Error');
    assert.equal(transactions.find(({ node_id }) => node_id === slow.id)!.status, 'Error');
  });

  it('hands results on by every kind of variable, JSON types kept', async () => {
    const start = trigger([{ id: 'name' }, { id: 'tags' }]);
    const echo = http(`${target.url}/vars/{{ input.tags[1] }}`, {
      method: 'POST',
      headers: { 'x-name': 'Dear {{ input.name }}' },
      body: { whole: '{{ input.tags }}', text: 'tags: {{ input.tags }}', missing: '{{ input.nothing }}' },
    });
    const model = llm(
      `Status ${resultOf(echo, 'status_code')}, name {{ ${start.id}.result.name }}, ${resultOf(echo, 'json.path')}`,
    );
    link(start, echo);
    link(echo, model);
    const run = await api.runToEnd(drawing([start, echo, model]), { name: 'Ada', tags: ['a', 'b'] });
    assert.equal(run.status, 'succeed', JSON.stringify(run.nodes));
    const [request] = target.requestsTo('/vars/b');
    assert.equal(request!.headers['x-name'], 'Dear Ada');
    assert.deepEqual(JSON.parse(request!.body), { whole: ['a', 'b'], text: 'tags: ["a","b"]', missing: '' });
    assert.equal(run.nodes[model.id]!.result!.content, 'echo: Status 200, name Ada, /vars/b');
    assert.equal(run.nodes[start.id]!.result!.content, '{"name":"Ada","tags":["a","b"]}');
    assert.equal(run.nodes[start.id]!.result!['name'], 'Ada');
  });

  it('lets the next node use an HTTP response of 5 MB', async () => {
    const items = Array.from({ length: 50_000 }, (_, index) => ({ index, text: 'x'.repeat(70) }));
    target.on('/five-megabytes', { body: { items } });
    const start = trigger();
    const fetchAll = http(`${target.url}/five-megabytes`);
    const forward = http(`${target.url}/forwarded`, { method: 'POST', body: resultOf(fetchAll, 'json.items') });
    const last = condition(resultOf(fetchAll, 'json.items[49999].index'), '==', '49999');
    link(start, fetchAll);
    link(fetchAll, [forward, last]);
    const run = await api.runToEnd(drawing([start, fetchAll, forward, last]));
    assert.equal(run.status, 'succeed');
    assert.ok(run.nodes[fetchAll.id]!.result!.content.length > 4_500_000);
    assert.equal((JSON.parse(target.requestsTo('/forwarded')[0]!.body) as unknown[]).length, 50_000);
    assert.equal(run.nodes[last.id]!.result!.content, 'true');
  });

  it('does not change a run in flight when its workflow is edited', async () => {
    const [start, slow] = [trigger(), http(`${target.url}/hold/edited`)];
    const after = http(`${target.url}/before-the-edit`);
    link(start, slow);
    link(slow, after);
    const project = await api.createProject();
    const workflow = await api.createWorkflow(project, drawing([start, slow, after]));
    const { data } = await api.run(workflow);
    const edited = structuredClone(after);
    edited.data['url'] = `${target.url}/after-the-edit`;
    await api.patch(`/workflows/${workflow}/`, { body: { data: drawing([start, slow, edited]) } });
    target.release('/hold/edited');
    const end = await api.pollToEnd(data.id);
    assert.equal(end.data.status, 'succeed');
    assert.equal(target.requestsTo('/before-the-edit').length, 1);
    assert.equal(target.requestsTo('/after-the-edit').length, 0);
  });

  it('goes from in queue over in progress to succeed, showing nodes as they start and finish', async () => {
    const [start, quick, slow] = [trigger(), http(`${target.url}/quick`), http(`${target.url}/hold/seen`)];
    link(start, quick);
    link(quick, slow);
    const project = await api.createProject();
    const workflow = await api.createWorkflow(project, drawing([start, quick, slow]));
    const started = await api.run(workflow);
    assert.deepEqual({ ...started.data, id: '' }, { id: '', status: 'in queue', data: null });
    const seen: string[] = [];
    for (let status = ''; status !== 'succeed';) {
      const { data } = await api.poll(started.data.id);
      status = data.status;
      const entry = data.data?.[slow.id]?.status ?? '-';
      const now = `${status}/${entry}`;
      if (seen.at(-1) !== now) seen.push(now);
      if (now === 'in progress/in progress') target.release('/hold/seen');
      if (status === 'failed') assert.fail(JSON.stringify(data));
    }
    const order = ['in queue/-', 'in progress/-', 'in progress/in progress', 'in progress/succeed', 'succeed/succeed'];
    assert.deepEqual(
      seen,
      order.filter((state) => seen.includes(state)),
    );
    assert.ok(seen.includes('in progress/in progress'));
  });
});
