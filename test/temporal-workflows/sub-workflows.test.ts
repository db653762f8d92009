// Nodes that run other workflows (docs/use/nodes.md, "Sub-workflow").
import assert from 'node:assert/strict';
import {
  createApiClient,
  type ApiClient,
  type Envelope,
  type NodeEntry,
  type RunRecord,
} from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node, resultOf, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, queryDatabase, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { callBack, callbackUrlOf, untilWaiting } from '../support/waiting.js';

interface ChildRow {
  id: string;
  status: string;
  depth: number;
  error_code: string | null;
}

describe('a node that runs a workflow', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let project: number;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
    project = await api.createProject();
  });
  after(() => target.close());

  const calls = (workflowId: number, data: Record<string, unknown> = {}): DrawingNode =>
    node('workflow', { workflow_id: workflowId, ...data });

  /** Creates a workflow of a trigger and these nodes in a row. */
  async function workflowOf(nodes: DrawingNode[], fields: Record<string, unknown>[] = []): Promise<number> {
    return api.createWorkflow(project, drawing(linkInRow([trigger(fields), ...nodes])));
  }

  async function start(workflowId: number, input: unknown = {}): Promise<string> {
    const { status, data } = await api.run(workflowId, input);
    assert.equal(status, 201, JSON.stringify(data));
    return data.id;
  }

  async function runToEnd(
    nodes: DrawingNode[],
    input: unknown = {},
  ): Promise<Envelope & { runId: string; workflowId: number }> {
    const workflowId = await workflowOf(nodes);
    const runId = await start(workflowId, input);
    return { ...(await api.pollToEnd(runId)), runId, workflowId };
  }

  const entryOf = (envelope: Envelope, of: DrawingNode): NodeEntry => envelope.data.data![of.id]!;

  function childrenOf(runId: string): Promise<ChildRow[]> {
    const text = 'SELECT id, status, depth, error_code FROM runs WHERE parent_run_id = $1 ORDER BY created_at';
    return queryDatabase<ChildRow>(stack, text, [runId]);
  }

  const readRun = async (runId: string) => (await api.get<RunRecord>(`/runs/${runId}/`)).body;

  it('gives the output of its run, whose input keeps JSON types, and each run has its own transactions', async () => {
    const output = node('output', { value: { doubled: '{{ input.list }}', name: '{{ input.name }}' } });
    const child = await workflowOf([output]);
    const call = calls(child, { input: { list: '{{ input.numbers }}', name: 'Ada {{ input.of }}' } });
    const after = node('output', { value: resultOf(call, 'output.doubled') });
    const run = await runToEnd([call, after], { numbers: [1, 2.5, { a: null }], of: 'L.' });
    assert.equal(run.data.status, 'succeed', JSON.stringify(run.data));
    assert.deepEqual(run.data.output, [1, 2.5, { a: null }]);
    const [row] = await childrenOf(run.runId);
    const { result } = entryOf(run, call);
    const value = { doubled: [1, 2.5, { a: null }], name: 'Ada L.' };
    assert.deepEqual(result, { content: JSON.stringify(value), output: value, run_id: row!.id, status: 'succeed' });
    assert.deepEqual([row!.status, row!.depth], ['Succeeded', 1]);
    assert.equal((await transactionsOf(stack, run.runId)).length, 3);
    assert.equal((await transactionsOf(stack, row!.id)).length, 2);
    const told = await readRun(row!.id);
    assert.deepEqual([told['parent_run_id'], told['parent_node_id'], told['parent_path']], [run.runId, call.id, '']);
    const parent = await readRun(run.runId);
    assert.deepEqual([parent['parent_run_id'], parent['parent_node_id']], [null, null]);
    const listed = await api.get<{ items: RunRecord[] }>(`/runs/?workflow=${child}`);
    assert.deepEqual(
      listed.body.items.map((item) => item.id),
      [row!.id],
    );
    const history = await historyOf(stack, run.runId);
    const started = history.filter(({ type }) => type === 'startChildWorkflowExecutionInitiated');
    assert.equal(started.length, 1);
    assert.ok(started[0]!.text.includes(row!.id), started[0]!.text);
    assert.ok(!started[0]!.text.includes('indegree'), 'the history of the parent holds no plan');
  });

  it('gives the content of the last node where there is no output node', async () => {
    const child = await workflowOf([node('set', { value: 'first' }), node('set', { value: ['last'] })]);
    const call = calls(child);
    const run = await runToEnd([call]);
    const { content, output, status } = entryOf(run, call).result!;
    assert.deepEqual([content, output, status], ['["last"]', '["last"]', 'succeed']);
  });

  it('waits as long as its run does, and tells its id meanwhile', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const call = calls(await workflowOf([pause, node('output', { value: resultOf(pause) })]));
    const workflowId = await workflowOf([call]);
    const runId = await start(workflowId);
    const { waiting, started_at: startedAt } = await untilWaiting(api, runId, call.id);
    const [child] = await childrenOf(runId);
    assert.deepEqual([waiting!.for, (waiting as { run_id?: string }).run_id], ['child', child!.id]);
    assert.ok(Math.abs(Date.parse(waiting!.until!) - Date.parse(startedAt!) - 365 * 86_400_000) < 60_000);
    const detail = await api.get<{ waiting: object }>(`/workflows/${workflowId}/history/${runId}/nodes/${call.id}/`);
    assert.deepEqual(detail.body.waiting, waiting);
    await callBack(await callbackUrlOf(api, child!.id, pause.id), 'done');
    const end = await api.pollToEnd(runId);
    assert.equal(entryOf(end, call).result!.content, 'done');
  });

  it('ends at once where it does not wait, and its run outlives a cancel', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const call = calls(await workflowOf([pause]), { wait: false });
    const hold = node('wait', { mode: 'callback', timeout: 600 });
    const workflowId = await workflowOf([call, hold]);
    const runId = await start(workflowId);
    await untilWaiting(api, runId, hold.id);
    const [child] = await childrenOf(runId);
    const { result } = entryOf(await api.poll(runId), call);
    assert.deepEqual(result, { content: '', output: null, run_id: child!.id, status: 'in progress' });
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    await api.pollToEnd(runId);
    const url = await callbackUrlOf(api, child!.id, pause.id);
    const [row] = await queryDatabase<{ cancel: Date | null }>(
      stack,
      'SELECT cancel_requested_at AS cancel FROM runs WHERE id = $1',
      [child!.id],
    );
    assert.equal(row!.cancel, null);
    await callBack(url, 'go on');
    assert.equal((await api.pollToEnd(child!.id)).data.status, 'succeed');
  });

  it('fails with child_failed where its run fails, and on_error counts', async () => {
    const child = await workflowOf([http('http://localhost:1/nothing', { retry: { max_attempts: 1 } })]);
    const [call, after] = [calls(child, { on_error: 'continue' }), node('set', { value: 'after' })];
    const run = await runToEnd([call, after]);
    assert.equal(run.data.status, 'succeed', JSON.stringify(run.data));
    const { status, error, handled } = entryOf(run, call);
    assert.deepEqual([status, error!.code, handled], ['failed', 'child_failed', true]);
    const [row] = await childrenOf(run.runId);
    assert.ok(error!.message.includes(row!.error_code!), error!.message);
    const fatal = await runToEnd([calls(child)]);
    assert.equal(fatal.data.status, 'failed');
  });

  it('fails with child_failed where its run is cancelled', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const child = await workflowOf([pause]);
    const call = calls(child);
    const runId = await start(await workflowOf([call]));
    await untilWaiting(api, runId, call.id);
    const [row] = await childrenOf(runId);
    await untilWaiting(api, row!.id, pause.id);
    await api.post(`/workflows/${child}/history/${row!.id}/cancel/`);
    const { error } = entryOf(await api.pollToEnd(runId), call);
    assert.equal(error!.code, 'child_failed');
    assert.match(error!.message, /was cancelled/);
  });

  it('fails with workflow_not_found for a workflow that is unknown, archived or of another project', async () => {
    const archived = await workflowOf([node('set', { value: 1 })]);
    await api.delete(`/workflows/${archived}/`);
    const foreign = await api.createWorkflow(await api.createProject(), drawing([trigger()]));
    for (const id of [2_147_483_647, archived, foreign]) {
      const call = calls(id);
      const run = await runToEnd([call]);
      assert.equal(entryOf(run, call).error!.code, 'workflow_not_found');
      assert.equal((await childrenOf(run.runId)).length, 0);
      const check = await api.get<{ warnings: { code: string; node_id: string }[] }>(
        `/workflows/${run.workflowId}/check_workflow/`,
      );
      assert.deepEqual(
        check.body.warnings.map(({ code, node_id: of }) => [code, of]),
        [['unknown_workflow', call.id]],
      );
    }
  });

  it('fails with child_failed where the drawing or its input cannot run, and says why', async () => {
    const required = await workflowOf([], [{ id: 'name', label: 'Name', type: 'text', input_requirements: true }]);
    const invalid = await workflowOf([node('set', { value: undefined })]);
    const cyclic = node('set', { value: 1 });
    cyclic.data.next_nodes = [cyclic.id];
    const malformed = await workflowOf([cyclic]);
    await api.patch(`/workflows/${malformed}/`, { body: { data: drawing([cyclic]) } });
    for (const [child, reason] of [
      [required, /name: Field required/],
      [invalid, /value: Field required/],
      [malformed, /cannot run/],
    ] as const) {
      const call = calls(child);
      const { error } = entryOf(await runToEnd([call]), call);
      assert.equal(error!.code, 'child_failed');
      assert.match(error!.message, reason);
    }
  });

  it('may run itself ten deep: then the last one fails with too_deep', async () => {
    const id = await workflowOf([]);
    const call = calls(id);
    await api.patch(`/workflows/${id}/`, { body: { data: drawing(linkInRow([trigger(), call])) } });
    const check = await api.get<{ warnings: { code: string }[] }>(`/workflows/${id}/check_workflow/`);
    assert.deepEqual(
      check.body.warnings.map(({ code }) => code),
      ['recursive_workflow'],
    );
    const runId = await start(id);
    const { error } = entryOf(await api.pollToEnd(runId, { timeoutMs: 60_000, intervalMs: 100 }), call);
    assert.equal(error!.code, 'child_failed');
    assert.match(error!.message, /too_deep/);
    const rows = await queryDatabase<ChildRow>(
      stack,
      'SELECT id, status, depth, error_code FROM runs WHERE root_run_id = $1 ORDER BY depth',
      [runId],
    );
    assert.deepEqual(
      rows.map(({ depth }) => depth),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.deepEqual(
      rows.map(({ error_code: code }) => code),
      [...Array<string>(9).fill('child_failed'), 'too_deep'],
    );
  });

  it('cancels the runs that are waited for, three deep, and no others', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const calls1 = calls(await workflowOf([pause]));
    const calls2 = calls(await workflowOf([calls1]));
    const top = calls(await workflowOf([calls2]));
    const workflowId = await workflowOf([top]);
    const runId = await start(workflowId);
    const below = 'SELECT id, status, depth, error_code FROM runs WHERE root_run_id = $1 ORDER BY depth';
    const rows = await eventually(async () => {
      const found = await queryDatabase<ChildRow>(stack, below, [runId]);
      assert.equal(found.length, 3);
      return found;
    });
    await untilWaiting(api, rows[2]!.id, pause.id);
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    for (const { id } of rows) await api.pollToEnd(id, { timeoutMs: 40_000, intervalMs: 100 });
    const ended = await queryDatabase<ChildRow>(stack, below, [runId]);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['Cancelled', 'Cancelled', 'Cancelled'],
    );
  });

  it('cancels its run where its iteration fails', async () => {
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const call = calls(await workflowOf([pause]));
    const fail = http('http://localhost:1/nothing', { retry: { max_attempts: 1 } });
    const first = node('set', { value: '{{ input.any }}' });
    const pauseBefore = http(`${target.url}/hold/iteration`, { next_nodes: [fail.id] });
    first.data.next_nodes = [call.id, pauseBefore.id];
    const loop = node('for_each', {
      items: [1],
      on_item_error: 'skip',
      body_node: first.id,
      next_nodes: [],
      output: 1,
    });
    const begin = trigger();
    begin.data.next_nodes = [loop.id];
    const runId = await start(
      await api.createWorkflow(project, drawing([begin, loop, first, call, pauseBefore, fail])),
    );
    const child = await eventually(async () => (await childrenOf(runId))[0]);
    target.release('/hold/iteration');
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    await api.pollToEnd(child.id, { timeoutMs: 30_000, intervalMs: 100 });
    assert.deepEqual(
      (await childrenOf(runId)).map(({ status }) => status),
      ['Cancelled'],
    );
  });

  it('hands on secrets in both directions, and every reader of both runs sees them masked', async () => {
    const secretIn = 'parent-secret-7f3a91';
    const secretOut = 'child-secret-c2d48e';
    const fields = [{ id: 'own', label: 'Own', type: 'text', is_secret: true, default_value: secretOut }];
    const output = node('output', { value: { mine: '{{ input.own }}', yours: '{{ input.given }}' } });
    const child = await workflowOf([output], fields);
    const call = calls(child, { input: { given: 'x {{ input.token }}' } });
    const copy = node('set', { value: resultOf(call, 'output') });
    const send = http(`${target.url}/secrets`, { method: 'POST', body: { copy: resultOf(copy, 'value') } });
    const data = drawing(
      linkInRow([trigger([{ id: 'token', label: 'T', type: 'text', is_secret: true }]), call, copy, send]),
    );
    const workflowId = await api.createWorkflow(project, data);
    const runId = await start(workflowId, { token: secretIn });
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    const [{ id: childId } = { id: '' }] = await childrenOf(runId);
    const [told] = target.requestsTo('/secrets');
    assert.ok(told!.body.includes(secretIn) && told!.body.includes(secretOut), 'later nodes get the values');
    const pages = await Promise.all([
      ...[runId, childId].flatMap((id) => [api.poll(id), readRun(id)]),
      ...[call, copy, send].map(({ id }) => api.get(`/workflows/${workflowId}/history/${runId}/nodes/${id}/`)),
      api.get(`/workflows/${child}/history/${childId}/nodes/${output.id}/`),
    ]);
    for (const secret of [secretIn, secretOut]) {
      for (const page of pages)
        assert.ok(!JSON.stringify(page).includes(secret), `${secret} in ${JSON.stringify(page)}`);
      const stored = await queryDatabase<{ text: string }>(
        stack,
        `SELECT coalesce(result::text, '') || coalesce(error_message, '') AS text FROM node_results WHERE run_id = ANY ($1)
          UNION ALL SELECT input::text FROM runs WHERE id = ANY ($1)`,
        [[runId, childId]],
      );
      assert.ok(!stored.some(({ text }) => text.includes(secret)));
    }
    const again = await api.post<Envelope>(`/workflows/${child}/history/${childId}/re-run/`);
    assert.equal(again.status, 201, JSON.stringify(again.body));
    await api.pollToEnd(again.body.data.id);
    assert.ok(!JSON.stringify(await readRun(again.body.data.id)).includes(secretIn));
  });

  it('adds up what a run and the runs below it have cost', async () => {
    const [set, call] = [node('set', { value: 1 }), calls(await workflowOf([node('set', { value: 1 })]))];
    const run = await runToEnd([set, call]);
    const [child] = await childrenOf(run.runId);
    await queryDatabase(
      stack,
      'UPDATE billing_transactions SET amount_usd = 1.5 WHERE run_id = $1 AND operation = $2',
      [child!.id, 'set'],
    );
    await queryDatabase(
      stack,
      'UPDATE billing_transactions SET amount_usd = 0.25 WHERE run_id = $1 AND operation = $2',
      [run.runId, 'set'],
    );
    const told = await readRun(run.runId);
    assert.equal((told['total_cost'] as Record<string, string>)['USD'], '1.75');
    assert.equal(told.cost['USD'], '0.25');
    assert.equal(((await readRun(child!.id))['total_cost'] as Record<string, string>)['USD'], '1.5');
  });
});
