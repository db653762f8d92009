// Resumed runs while processes are killed and histories are full.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { EVENTS_OF_AN_EXECUTION } from '../replay/scenarios-over-executions.js';
import { createApiClient, type ApiClient, type Envelope } from '../../harness/client/api-client.js';
import { closedHistories } from '../support/closed-histories.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, linkInRow, llm, node, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { transactionsOf, withTemporal } from '../support/inspect.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { wrapTemporal } from '../support/wrapped-temporal.js';

const KILLS_AT_A_NODE = 5;

describe('runs that resume others', function () {
  this.timeout(300_000);
  let target: HttpTarget;
  const stacks: TestStack[] = [];

  before(async () => (target = await startHttpTarget()));
  after(async () => {
    await target.close();
    for (const stack of stacks) await stack.stop();
  });

  async function open(env: Record<string, string> = {}): Promise<{ stack: TestStack; api: ApiClient }> {
    const stack = await startStack({ env });
    stacks.push(stack);
    return { stack, api: createApiClient(stack.apiUrl, stack.apiKey) };
  }

  const callsTo = (path: string): number => target.requestsTo(path).length;

  async function failedRun(api: ApiClient, data: object): Promise<{ workflowId: number; runId: string }> {
    const { workflowId, runId, status } = await api.runToEnd(data);
    assert.equal(status, 'failed');
    return { workflowId, runId };
  }

  async function resume(api: ApiClient, of: { workflowId: number; runId: string }): Promise<string> {
    const path = `/workflows/${of.workflowId}/history/${of.runId}/resume/`;
    const { status, body } = await api.post<Envelope>(path, { body: {} });
    assert.equal(status, 201, JSON.stringify(body));
    return body.data.id;
  }

  describe('with workers that are killed', () => {
    let stack: TestStack;
    let api: ApiClient;
    before(async () => ({ stack, api } = await open()));

    it('a chain of ten whose eighth node fails once: ten kills, and only what is left is called and paid', async () => {
      const name = randomUUID();
      const pathOf = (number: number): string => `/${name}/${number}`;
      const nodes = Array.from({ length: 10 }, (_, index) =>
        http(`${target.url}${pathOf(index + 1)}`, { retry: { max_attempts: 10, delay: 0 } }),
      );
      nodes[1] = llm('two');
      nodes[8] = llm('nine');
      target.on(pathOf(8), { status: 418 });
      const failed = await failedRun(api, drawing(linkInRow([trigger(), ...nodes])));
      const cost = (await api.history(failed.workflowId, failed.runId)).cost['USD'];
      let isHeld = true;
      const hold = (): { delayMs: number } => ({ delayMs: isHeld ? 60_000 : 0 });
      const before = callsTo(pathOf(8));
      target.on(pathOf(8), hold);
      target.on(pathOf(10), hold);
      const runId = await resume(api, failed);
      for (const [number, earlier] of [
        [8, before],
        [10, 0],
      ] as const) {
        isHeld = true;
        await eventually(() => callsTo(pathOf(number)) > earlier, { timeoutMs: 60_000 });
        for (let kills = 0; kills < KILLS_AT_A_NODE; kills += 1) await killAndAwaitRestart(stack, 'worker');
        isHeld = false;
        await eventually(async () => (await api.poll(runId)).data.data![nodes[number - 1]!.id]?.status === 'succeed', {
          timeoutMs: 90_000,
        });
      }
      const { data } = await api.pollToEnd(runId, { timeoutMs: 60_000 });
      assert.equal(data.status, 'succeed', JSON.stringify(data));
      assert.deepEqual(
        [1, 3, 4, 5, 6, 7].map((number) => callsTo(pathOf(number))),
        [1, 1, 1, 1, 1, 1],
      );
      const paid = await transactionsOf(stack, runId);
      assert.deepEqual(
        paid.map(({ node_id: id }) => id).toSorted(),
        nodes
          .slice(7)
          .map(({ id }) => id)
          .toSorted(),
      );
      assert.equal((await api.history(failed.workflowId, runId)).cost['USD'], cost, 'one answer of the model each');
      assert.equal(stack.modelProvider.requests.length, 2);
    });

    it('a run that Temporal does not take is started later, with what it keeps', async () => {
      const [first, second] = [`/${randomUUID()}`, `/${randomUUID()}`];
      target.on(second, [{ status: 418 }, { body: 'ok' }]);
      const nodes = [http(`${target.url}${first}`), http(`${target.url}${second}`)];
      const failed = await failedRun(api, drawing(linkInRow([trigger(), ...nodes])));
      process.kill(stack.stack.pids.temporal!, 'SIGSTOP');
      let runId: string;
      try {
        runId = await resume(api, failed);
        // The start has failed. From now on the reconciler alone starts the run.
        const notStarted = new RegExp(`"run_id":"${runId}"[^\n]*"the run is not started yet`);
        await eventually(() => notStarted.test(stack.logs()));
      } finally {
        process.kill(stack.stack.pids.temporal!, 'SIGCONT');
      }
      const { data } = await api.pollToEnd(runId, { timeoutMs: 120_000 });
      assert.equal(data.status, 'succeed', JSON.stringify(data));
      assert.deepEqual([callsTo(first), callsTo(second)], [1, 2]);
    });
  });

  it('goes on in new executions: items and nodes that are kept are never executed', async () => {
    const temporal = await wrapTemporal({ 'limit.historyCount.suggestContinueAsNew': EVENTS_OF_AN_EXECUTION });
    const { stack, api } = await open({ TEMPORAL_CLI: temporal.file });
    const path = randomUUID();
    const before = http(`${target.url}/${path}/before`);
    const call = http('');
    const items = Array.from({ length: 30 }, (_, index) => `i${index}`);
    const each = node('for_each', { items, body_node: call.id, concurrency: 3 });
    call.data['url'] = `${target.url}/${path}/{{ ${each.id}.item }}`;
    // No gate holds this call for others: an execution that continues as new starts none before the call has ended.
    target.on(`/${path}/i12`, [{ status: 418, delayMs: 300 }, { body: 'ok' }]);
    const after = Array.from({ length: 6 }, (_, index) => http(`${target.url}/${path}/after-${index}`));
    const start = trigger();
    linkInRow([start, before, each, ...after]);
    const failed = await failedRun(api, drawing([start, before, each, ...after, call]));
    const done = items.filter((item) => callsTo(`/${path}/${item}`) > 0).length;
    assert.ok(done > 6 && done < 30, `${done} items have begun`);
    const runId = await resume(api, failed);
    const { data } = await api.pollToEnd(runId, { timeoutMs: 120_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data));
    assert.equal(callsTo(`/${path}/before`), 1);
    assert.equal((data.data![each.id]!.result!['items'] as unknown[]).length, 30);
    const calls = items.map((item) => callsTo(`/${path}/${item}`));
    assert.equal(calls[12], 2);
    // Calls in flight beside the failure were cancelled, and are repeated.
    assert.ok(calls.filter((count) => count > 1).length <= 3, calls.join(' '));
    assert.deepEqual(
      after.map((_, index) => callsTo(`/${path}/after-${index}`)),
      after.map(() => 1),
    );
    const executions = await withTemporal(stack, (client) => closedHistories(client, runId));
    assert.ok(executions.length > 2, `${executions.length} executions`);
    temporal.remove();
  });
});
