import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, Envelope } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { agent, chain, drawing, http, inRow, link, llm, node, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../../support/inspect.js';
import { endedDaysAgo, openRetention, type RetentionBench } from '../../support/retention-round.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';
import { callBack, callbackUrlOf, taskOf } from '../../support/waiting.js';
import { createAccount } from '../accounts.js';
import type { Detail } from '../bodies.js';

const FLAGS = {
  'toggle-api-run': 'is_api_run',
  'toggle-marketplace-example': 'use_in_marketplace_example',
  'toggle-marketplace-use': 'use_as_marketplace_template',
} as const;
type Action = keyof typeof FLAGS;
const ACTIONS = Object.keys(FLAGS) as Action[];
const CONTENTS = ['agent_sessions', 'agent_turns', 'agent_tool_calls', 'waits'];

describe('results that are older than RESULT_RETENTION_DAYS', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let retention: RetentionBench;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    retention = openRetention(stack);
    target = await startHttpTarget();
    tools = await startToolServer();
  });
  after(async () => {
    await tools.close();
    await target.close();
    await retention.close();
  });

  const notFound = (id: string): Envelope => ({ status: 200, data: { id, status: 'not found', data: null } });
  const runOf = async (workflowId: number, input: unknown = {}): Promise<string> => {
    const { id } = (await api.run(workflowId, input)).data;
    await api.pollToEnd(id);
    return id;
  };
  const toggle = (workflowId: number, run: string, action: Action, value: boolean) =>
    api.post<Detail>(`/workflows/${workflowId}/history/${run}/${action}/`, { body: { [FLAGS[action]]: value } });
  const rowsOf = async (table: string, run: string): Promise<number> => {
    const text = `SELECT count(*)::integer AS count FROM ${table} WHERE run_id = $1`;
    return (await queryDatabase<{ count: number }>(stack, text, [run]))[0]!.count;
  };
  /** Returns everything that the database stores of a run, as text. */
  const dump = async (run: string): Promise<string> => {
    const parts = ['node_results', 'approval_requests', 'provider_calls', ...CONTENTS].map(
      (t) => `SELECT t::text FROM ${t} t WHERE run_id = $1`,
    );
    return JSON.stringify(
      await queryDatabase(stack, [...parts, 'SELECT t::text FROM runs t WHERE id = $1'].join(' UNION ALL '), [run]),
    );
  };

  /**
   * Runs a secret input, an HTTP request, a model call, a callback, and an agent with two tool calls. The first tool
   * call is approved; the run is cancelled while the second one waits.
   */
  const runWithEverything = async (secret: string): Promise<{ workflowId: number; runId: string; agentId: string }> => {
    const model = `retention-${randomUUID()}`;
    const calls = ['one', 'two'].map((text) => ({ name: 'note', arguments: { text: `note ${text}` } }));
    stack.modelProvider.script(model, [{ toolCalls: calls }, { text: 'finished' }]);
    const start = trigger([{ id: 'token', is_secret: true }]);
    const call = http(`${target.url}/echo`, { headers: { 'X-Token': '{{ input.token }}' } });
    const say = llm('a word about {{ input.token }}');
    const helper = agent('Work', { model_name: model }, [{ endpoint_url: tools.url, require_approval: 'always' }]);
    const pause = node('wait', { mode: 'callback' });
    link(start, [call, say, pause]);
    link(say, helper);
    const workflowId = await api.createWorkflow(project, drawing([start, call, say, pause, helper]));
    const { id: runId } = (await api.run(workflowId, { token: secret })).data;
    const path = `/workflows/workflow_run/${runId}/agent-approval/`;
    const requests = await eventually(async () => {
      const { body } = await api.get<{ request_id: string }[]>(path);
      return body.length === 2 && body;
    });
    await callBack(await callbackUrlOf(api, runId, pause.id), 'called back');
    await api.post(`${path}${requests[0]!.request_id}/approve/`, { body: { reason: 'because' } });
    await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    await api.pollToEnd(runId);
    return { workflowId, runId, agentId: helper.id };
  };

  it('are deleted from every table; the run, its history and its transactions stay; polls find nothing', async () => {
    const secret = `canary-${randomUUID()}`;
    const { workflowId, runId, agentId } = await runWithEverything(secret);
    const before = await api.history(workflowId, runId);
    const paid = await transactionsOf(stack, runId);
    for (const table of CONTENTS) assert.ok((await rowsOf(table, runId)) > 0, table);
    await endedDaysAgo(stack, 29, runId);
    await retention.round();
    assert.equal((await api.poll(runId)).data.status, 'failed', 'a day is left');
    await endedDaysAgo(stack, 31, runId);
    assert.deepEqual(await api.poll(runId), notFound(runId), 'from the day on, before any round');
    const hidden = await api.history(workflowId, runId);
    assert.ok(typeof hidden['results_expired_at'] === 'string');
    assert.notDeepEqual(hidden['result'], before['result']);
    const mark = 'UPDATE runs SET results_expired_at = now(), is_purge_pending = true WHERE id = $1';
    await queryDatabase(stack, mark, [runId]);
    assert.deepEqual((await api.history(workflowId, runId))['result'], hidden['result'], 'marked and not yet deleted');
    await queryDatabase(stack, 'UPDATE runs SET results_expired_at = NULL, is_purge_pending = false WHERE id = $1', [
      runId,
    ]);
    await retention.round();
    assert.deepEqual(await api.poll(runId), notFound(runId));
    for (const table of CONTENTS) assert.equal(await rowsOf(table, runId), 0, table);
    const calls = await queryDatabase<{ ordinal: number; usage: unknown; tokens: number }>(
      stack,
      'SELECT ordinal, usage, input_tokens::integer AS tokens FROM provider_calls WHERE run_id = $1',
      [runId],
    );
    assert.ok(calls.length > 0, 'of model calls the counts stay');
    for (const { ordinal, usage, tokens } of calls) assert.ok(ordinal === 0 && usage === null && tokens > 0);
    const left = await dump(runId);
    for (const word of [
      'finished',
      'note one',
      'note two',
      'because',
      'called back',
      'x-token',
      Buffer.from(secret).toString('hex'),
    ]) {
      assert.ok(!left.includes(word), `${word} is left: ${left}`);
    }
    const [sealed] = await queryDatabase<object>(stack, 'SELECT input_enc, secrets_enc FROM runs WHERE id = $1', [
      runId,
    ]);
    assert.deepEqual(sealed, { input_enc: null, secrets_enc: null });
    const after = await api.history(workflowId, runId);
    const kept = ['id', 'status', 'cost', 'data', 'input_data', 'input_fields', 'error', 'created_at'];
    for (const key of kept) assert.deepEqual(after[key], before[key], key);
    assert.ok(typeof after['results_expired_at'] === 'string');
    const entries = after['result'] as Record<string, { status: string; error?: { code: string } }>;
    assert.deepEqual(Object.keys(entries).toSorted(), Object.keys(before['result'] as object).toSorted());
    assert.deepEqual(hidden['result'], after['result'], 'history had shown no more than is left');
    assert.deepEqual([entries[agentId]?.status, entries[agentId]?.error?.code], ['failed', 'cancelled']);
    assert.deepEqual(await transactionsOf(stack, runId), paid);
    const approvals = await queryDatabase<object>(
      stack,
      'SELECT status, arguments, reason, decided_by IS NOT NULL AS decided FROM approval_requests WHERE run_id = $1',
      [runId],
    );
    assert.deepEqual(
      approvals,
      [{ status: 'approved', arguments: null, reason: '', decided: true }],
      'who decided what',
    );
  });

  it('of a task without any words are deleted with the comment of its answer', async () => {
    const ask = node('human', { message: '{{ input.nothing }}' });
    const workflowId = await api.createWorkflow(project, drawing(inRow(trigger(), ask)));
    const { id: runId } = (await api.run(workflowId)).data;
    const id = await taskOf(api, runId, ask.id);
    const answered = await api.post(`/human-tasks/${id}/answer/`, { body: { action: 'done', comment: 'a comment' } });
    assert.equal(answered.status, 200, JSON.stringify(answered.body));
    await api.pollToEnd(runId);
    await endedDaysAgo(stack, 31, runId);
    await retention.round();
    const text = 'SELECT comment FROM human_answers WHERE task_id = $1';
    assert.deepEqual(await queryDatabase(stack, text, [id]), [{ comment: '' }]);
  });

  it('of a draft are deleted, too', async () => {
    const workflowId = await api.createWorkflow(
      project,
      chain(2, () => llm('')),
    );
    const { id } = (await api.run(workflowId, { a: 1 })).data;
    await endedDaysAgo(stack, 31, id);
    assert.deepEqual(await api.poll(id), notFound(id));
    const shown = async () => {
      const record = await api.history(workflowId, id);
      return [record.status, record['result'], record['input_data']];
    };
    assert.deepEqual(await shown(), ['Draft', {}, { a: 1 }], 'before any round');
    await retention.round();
    assert.deepEqual(await shown(), ['Draft', {}, { a: 1 }]);
  });

  for (const action of ACTIONS) {
    it(`stay complete while ${FLAGS[action]} is set, and are deleted when it is removed`, async () => {
      const workflowId = await api.createWorkflow(project, chain(2));
      const run = await runOf(workflowId);
      assert.equal((await toggle(workflowId, run, action, true)).status, 200);
      const [polled, shown] = [await api.poll(run), await api.history(workflowId, run)];
      await endedDaysAgo(stack, 400, run);
      await retention.round();
      assert.deepEqual(await api.poll(run), polled);
      assert.deepEqual((await api.history(workflowId, run))['result'], shown['result']);
      assert.equal((await toggle(workflowId, run, action, false)).status, 200);
      assert.deepEqual(await api.poll(run), notFound(run));
      await retention.round();
      assert.equal((await dump(run)).includes('content'), false);
    });

    it(`can no longer be kept by ${FLAGS[action]} once deleted: 400, and no other run loses the flag`, async () => {
      const workflowId = await api.createWorkflow(project, chain(1));
      const [old, young] = [await runOf(workflowId), await runOf(workflowId)];
      await toggle(workflowId, young, action, true);
      await endedDaysAgo(stack, 31, old);
      await retention.round();
      const { status, body } = await toggle(workflowId, old, action, true);
      assert.deepEqual([status, body.code], [400, 'results_expired']);
      assert.equal((await api.history(workflowId, young))[FLAGS[action]], true);
      assert.equal((await toggle(workflowId, old, action, false)).status, 200);
    });
  }

  it('are kept if a flag is set after they are due and before the next round', async () => {
    const workflowId = await api.createWorkflow(project, chain(1));
    const run = await runOf(workflowId);
    await endedDaysAgo(stack, 31, run);
    assert.equal((await toggle(workflowId, run, 'toggle-api-run', true)).status, 200);
    await retention.round();
    assert.equal((await api.poll(run)).data.status, 'succeed');
  });

  it('of runs that get a flag during a round are either kept with the flag or deleted without it', async () => {
    const workflowId = await api.createWorkflow(project, chain(1));
    const runs = await Promise.all(Array.from({ length: 20 }, async () => (await api.run(workflowId)).data.id));
    await Promise.all(runs.map((run) => api.pollToEnd(run)));
    await endedDaysAgo(stack, 31, ...runs);
    const [answers] = await Promise.all([
      Promise.all(runs.map((run) => toggle(workflowId, run, 'toggle-marketplace-example', true))),
      retention.round(),
    ]);
    await retention.round();
    for (const [index, run] of runs.entries()) {
      const isPinned = answers[index]!.status === 200;
      assert.equal((await api.poll(run)).data.status, isPinned ? 'succeed' : 'not found');
      assert.equal((await api.history(workflowId, run))['use_in_marketplace_example'], isPinned);
    }
  });

  describe('re-run of a run whose results were deleted', () => {
    const reRun = (workflowId: number, run: string, body?: unknown) =>
      api.post<Envelope & Detail>(
        `/workflows/${workflowId}/history/${run}/re-run/`,
        body === undefined ? {} : { body },
      );
    const secretField = () =>
      drawing([trigger([{ id: 'token', is_secret: true, default_value: 'the default' }, { id: 'note' }])]);

    it('reuses the input of the run if no field of it was secret', async () => {
      const workflowId = await api.createWorkflow(project, chain(1));
      const run = await runOf(workflowId, { note: 'kept' });
      await endedDaysAgo(stack, 31, run);
      await retention.round();
      const { status, body } = await reRun(workflowId, run);
      assert.equal(status, 201, JSON.stringify(body));
      await api.pollToEnd(body.data.id);
      assert.deepEqual((await api.history(workflowId, body.data.id))['input_data'], { note: 'kept' });
    });

    it('answers a repeated request with its first answer, even if the results were deleted meanwhile', async () => {
      const workflowId = await api.createWorkflow(project, secretField());
      const run = await runOf(workflowId, { token: 'a secret value' });
      const path = `/workflows/${workflowId}/history/${run}/re-run/`;
      const headers = { 'idempotency-key': `expires-${run}` };
      const first = await api.post<Envelope>(path, { headers });
      await endedDaysAgo(stack, 31, run);
      await retention.round();
      const repeat = await api.post<Envelope>(path, { headers });
      assert.deepEqual([repeat.status, repeat.body.data.id], [201, first.body.data.id]);
      assert.equal((await reRun(workflowId, run)).status, 400);
    });

    it('needs the input in the body if a secret of the run was deleted, and never accepts ********', async () => {
      const workflowId = await api.createWorkflow(project, secretField());
      const run = await runOf(workflowId, { token: 'a secret value', note: 'seen' });
      await endedDaysAgo(stack, 31, run);
      await retention.round();
      for (const input of [undefined, { token: '********' }]) {
        const { status, body } = await reRun(workflowId, run, input);
        assert.deepEqual([status, body.code], [400, 'run_expired']);
      }
      assert.equal((await queryDatabase(stack, 'SELECT 1 FROM runs WHERE workflow_id = $1', [workflowId])).length, 1);
      const { status, body } = await reRun(workflowId, run, { token: 'another secret' });
      assert.equal(status, 201);
      await api.pollToEnd(body.data.id);
    });

    it('reuses the secrets of a run with a flag, however old the run is', async () => {
      const workflowId = await api.createWorkflow(project, secretField());
      const run = await runOf(workflowId, { token: 'a secret value' });
      await toggle(workflowId, run, 'toggle-api-run', true);
      await endedDaysAgo(stack, 400, run);
      await retention.round();
      const { status, body } = await reRun(workflowId, run);
      assert.equal(status, 201);
      await api.pollToEnd(body.data.id);
    });
  });
});
