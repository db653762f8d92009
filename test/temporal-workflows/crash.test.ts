import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { retryingFetch } from '../../harness/client/retrying.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, inRow, llm, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { cancelRun, queryDatabase, transactionsOf, withTemporal } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

const RESTART_WITHIN_MS = 20_000;

describe('crashes', function () {
  this.timeout(300_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(async () => {
    await target.close();
    await stack.stop();
  });

  async function startRun(nodes: DrawingNode[]): Promise<{ runId: string; workflowId: number }> {
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(nodes));
    return { workflowId, runId: (await api.run(workflowId)).data.id };
  }

  it('a run goes on after kill -9 of the worker: finished nodes are not executed again, the one in flight is', async () => {
    const before = http(`${target.url}/before-the-kill`);
    const during = http(`${target.url}/delay/3000/during-the-kill`);
    const after = http(`${target.url}/after-the-kill`);
    const nodes = inRow(before, during, after);
    const { runId, workflowId } = await startRun(nodes);
    await eventually(() => target.requestsTo('/delay/3000/during-the-kill').length === 1);
    await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
    await eventually(() => target.requestsTo('/delay/3000/during-the-kill').length === 2, { timeoutMs: 150_000 });
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'succeed');
    // A dead worker is noticed after 10 s without a heartbeat, and its nodes are attempted again 1 s later.
    const { events } = await withTemporal(stack, (client) => client.workflow.getHandle(runId).fetchHistory());
    const calls = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled ?? []);
    for (const { heartbeatTimeout, retryPolicy } of calls) {
      assert.deepEqual([Number(heartbeatTimeout?.seconds), Number(retryPolicy?.initialInterval?.seconds)], [10, 1]);
    }
    assert.ok(calls.length > 0);
    assert.equal(target.requestsTo('/before-the-kill').length, 1);
    assert.equal(target.requestsTo('/after-the-kill').length, 1);
    const paid = await transactionsOf(stack, runId);
    assert.deepEqual(paid.map(({ node_id }) => node_id).toSorted(), nodes.map(({ id }) => id).toSorted());
    const { body } = await api.get<{ attempts: { status: string; error: { code: string } | null }[] }>(
      `/workflows/${workflowId}/history/${runId}/nodes/${during.id}/`,
    );
    assert.deepEqual(
      body.attempts.map(({ status, error }) => [status, error?.code]),
      [
        ['failed', 'worker_lost'],
        ['succeed', undefined],
      ],
    );
  });

  it('a POST that was in flight when its worker died is not repeated', async () => {
    const post = http(`${target.url}/delay/4000/unsafe`, { method: 'POST', body: { n: 1 } });
    const { runId } = await startRun(inRow(post));
    await eventually(() => target.requestsTo('/delay/4000/unsafe').length === 1);
    await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'failed');
    assert.equal(end.data.data![post.id]!.error!.code, 'outcome_unknown');
    assert.equal(target.requestsTo('/delay/4000/unsafe').length, 1);
    assert.equal((await transactionsOf(stack, runId)).length, 2);
  });

  it('a model call that was in flight when its worker died is repeated once and billed once', async () => {
    stack.modelProvider.script('dies-once', [{ delayMs: 4_000 }, { text: 'second' }]);
    const model = llm('hello', { settings: { model_name: 'dies-once' } });
    const { runId, workflowId } = await startRun(inRow(model));
    await eventually(() => stack.modelProvider.requestsFor('dies-once').length === 1);
    await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.data![model.id]!.result!.content, 'second');
    assert.equal(stack.modelProvider.requestsFor('dies-once').length, 2);
    assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00002');
    const [call] = await queryDatabase<{ crashes: number }>(
      stack,
      'SELECT crashes FROM provider_calls WHERE run_id = $1',
      [runId],
    );
    assert.equal(call!.crashes, 1);
  });

  it('a model call whose worker dies three times with nothing else in flight is given up, and paid for once', async () => {
    const model_name = 'dies-always';
    stack.modelProvider.script(model_name, [{ delayMs: 600_000 }]);
    const model = llm('hello', { settings: { model_name } });
    const { runId, workflowId } = await startRun(inRow(model));
    for (const made of [1, 2, 3]) {
      await eventually(() => stack.modelProvider.requestsFor(model_name).length === made, { timeoutMs: 60_000 });
      await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
    }
    const end = await api.pollToEnd(runId, { timeoutMs: 90_000 });
    assert.equal(end.data.data![model.id]!.error!.code, 'worker_lost');
    assert.equal(stack.modelProvider.requestsFor(model_name).length, 3);
    const [call] = await queryDatabase<{ reserved: string }>(
      stack,
      "SELECT sum(price_usd)::text AS reserved FROM provider_calls WHERE run_id = $1 AND state = 'cut'",
      [runId],
    );
    const paid = (await transactionsOf(stack, runId)).filter(({ node_id }) => node_id === model.id);
    assert.deepEqual(
      paid.map(({ is_estimated }) => is_estimated),
      [true],
    );
    assert.equal((await api.history(workflowId, runId)).cost['USD'], call!.reserved);
  });

  describe('between the two calls of a model whose first answer did not fit', () => {
    const response_format = { type: 'json_object' };

    async function ledgerOf(runId: string): Promise<(string | number)[][]> {
      const calls = await queryDatabase<{ turn: number; state: string; crashes: number }>(
        stack,
        'SELECT turn, state, crashes FROM provider_calls WHERE run_id = $1 ORDER BY turn',
        [runId],
      );
      return calls.map(({ turn, state, crashes }) => [turn, state, crashes]);
    }

    it('the second call is repeated once, the first one is not, and each is billed once', async () => {
      const model_name = 'dies-between';
      stack.modelProvider.script(model_name, [{ text: 'no JSON' }, { delayMs: 4_000 }, { text: '{"a":1}' }]);
      const model = llm('hello', { settings: { model_name, response_format } });
      const { runId, workflowId } = await startRun(inRow(model));
      await eventually(() => stack.modelProvider.requestsFor(model_name).length === 2);
      await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
      const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
      assert.deepEqual(end.data.data![model.id]!.result!['json'], { a: 1 });
      const requests = stack.modelProvider.requestsFor(model_name);
      assert.deepEqual(
        requests.map(({ messages }) => messages.length),
        [1, 3, 3],
      );
      assert.deepEqual(requests[2]!.messages, requests[1]!.messages);
      assert.deepEqual(await ledgerOf(runId), [
        [0, 'applied', 0],
        [1, 'applied', 1],
      ]);
      assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.00004');
    });

    it('a run that is cancelled then has paid for the first call, and as estimated for the second one', async () => {
      const model_name = 'cancelled-between';
      stack.modelProvider.script(model_name, [{ text: 'no JSON' }, { delayMs: 30_000 }]);
      const model = llm('hello', { settings: { model_name, response_format } });
      const { runId, workflowId } = await startRun(inRow(model));
      await eventually(() => stack.modelProvider.requestsFor(model_name).length === 2);
      await cancelRun(stack, runId);
      const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
      assert.equal(end.data.data![model.id]!.error!.code, 'cancelled');
      // The second call was cut off, so it costs the amount reserved for it.
      assert.equal((await api.history(workflowId, runId)).cost['USD'], '0.008314');
      const paid = await transactionsOf(stack, runId);
      const estimated = paid.filter(({ node_id }) => node_id === model.id).map(({ is_estimated }) => is_estimated);
      assert.deepEqual(estimated, [true]);
    });
  });

  it('a node that is recorded when its worker dies before saying so is not executed again', async () => {
    const node = http(`${target.url}/recorded`);
    const slow = http(`${target.url}/delay/2500/recorded`);
    const { runId } = await startRun(inRow(node, slow));
    await eventually(() => target.requestsTo('/delay/2500/recorded').length === 1);
    // Simulates a process that died between the record and the report: the node is settled while its activity is open.
    await eventually(async () => {
      const settled = await queryDatabase(
        stack,
        `UPDATE node_results SET status = 'succeed', result = '{"content":"from the record"}', result_bytes = 29,
           finished_at = now()
         WHERE run_id = $1 AND node_id = $2 RETURNING node_id`,
        [runId, slow.id],
      );
      return settled.length === 1;
    });
    await killAndAwaitRestart(stack, 'worker', RESTART_WITHIN_MS);
    const end = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(end.data.status, 'succeed');
    assert.equal(end.data.data![slow.id]!.result!.content, 'from the record');
    assert.equal(target.requestsTo('/delay/2500/recorded').length, 1);
    assert.equal((await transactionsOf(stack, runId)).length, 3);
  });

  it('a client that polls through kill -9 of the API gets its complete result', async () => {
    const node = http(`${target.url}/hold/polled`);
    const { runId } = await startRun(inRow(node));
    await eventually(() => target.requestsTo('/hold/polled').length === 1);
    const failures: string[] = [];
    const fetch = retryingFetch(AbortSignal.timeout(90_000), ({ what }) => failures.push(what));
    const polling = createApiClient(stack.apiUrl, stack.apiKey, { fetch }).pollToEnd(runId, {
      timeoutMs: 90_000,
      intervalMs: 50,
    });
    // It may reject before the assertions below await it.
    polling.catch(() => undefined);
    await killAndAwaitRestart(stack, 'api', RESTART_WITHIN_MS);
    await eventually(() => failures.length > 0);
    target.release('/hold/polled');
    const end = await polling;
    assert.equal(end.data.status, 'succeed');
    assert.equal(end.data.data![node.id]!.status, 'succeed');
    assert.equal(target.requestsTo('/hold/polled').length, 1);
  });

  it('a run that ends while the API is down is reported when it is back', async () => {
    const { runId } = await startRun(inRow(http(`${target.url}/hold/ends-alone`)));
    await eventually(() => target.requestsTo('/hold/ends-alone').length === 1);
    const { api: frozen } = stack.stack.pids;
    process.kill(frozen!, 'SIGSTOP');
    try {
      target.release('/hold/ends-alone');
      await withTemporal(stack, (client) =>
        eventually(async () => (await client.workflow.getHandle(runId).describe()).status.name === 'COMPLETED'),
      );
    } finally {
      process.kill(frozen!, 'SIGCONT');
    }
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'succeed');
  });
});
