// Waits survive the death of any process.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, node, trigger, type DrawingNode } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../support/inspect.js';
import { killAndAwaitRestart, type StackPart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { callBack, callbackUrlOf, taskOf, untilWaiting } from '../support/waiting.js';

describe('waits and crashes', function () {
  this.timeout(240_000);
  let stack: StartedStack;
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

  async function killAndAwaitReady(name: StackPart): Promise<void> {
    await killAndAwaitRestart(stack, name);
    await eventually(async () => (await fetch(`${stack.apiUrl}/readyz`)).ok, { timeoutMs: 60_000 });
  }

  interface Waits {
    runId: string;
    nodes: DrawingNode[];
    timed: DrawingNode;
    called: DrawingNode;
    late: DrawingNode;
    asked: DrawingNode;
    url: string;
    task: string;
  }

  /**
   * Starts a run that waits for a time, for a callback, for a callback that does not come, and for a person, side by
   * side.
   */
  async function startWaits(seconds: number): Promise<Waits> {
    const start = trigger();
    const instead = http(`${target.url}/instead`);
    const timed = node('wait', { seconds });
    const called = node('wait', { mode: 'callback' });
    const late = node('wait', { mode: 'callback', timeout: seconds, timeout_node: instead.id });
    const asked = node('human', { message: 'Well?' });
    link(start, [timed, called, late, asked]);
    const nodes = [start, timed, called, late, asked, instead];
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(nodes));
    const runId = (await api.run(workflowId)).data.id;
    for (const { id } of [timed, called, late]) await untilWaiting(api, runId, id);
    const [url, task] = [await callbackUrlOf(api, runId, called.id), await taskOf(api, runId, asked.id)];
    return { runId, nodes, timed, called, late, asked, url, task };
  }

  async function answer({ task }: Waits, comment: string): Promise<void> {
    const { status } = await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done', comment } });
    assert.equal(status, 200);
  }

  async function assertWell({ runId, nodes, timed, called, late, asked }: Waits, body: string): Promise<void> {
    const end = await api.pollToEnd(runId, { timeoutMs: 90_000 });
    assert.equal(end.data.status, 'succeed', JSON.stringify(end));
    assert.equal(end.data.data![called.id]!.result!.content, body);
    assert.equal(end.data.data![asked.id]!.result!['comment'], body);
    const [{ result, finished_at: finishedAt }, timedOut] = [end.data.data![timed.id]!, end.data.data![late.id]!];
    assert.ok(finishedAt! >= result!.content);
    assert.deepEqual([timedOut.error!.code, timedOut.handled], ['wait_timeout', true]);
    const paid = await transactionsOf(stack, runId);
    assert.deepEqual(paid.map(({ node_id: id }) => id).toSorted(), nodes.map(({ id }) => id).toSorted());
  }

  for (const part of ['worker', 'api', 'temporal', 'postgres'] as const) {
    it(`end as they should after kill -9 of ${part}`, async () => {
      const waits = await startWaits(8);
      await killAndAwaitReady(part);
      assert.deepEqual(await callBack(waits.url, `after ${part}`), { status: 200, accepted: true });
      await answer(waits, `after ${part}`);
      await assertWell(waits, `after ${part}`);
    });
  }

  it('that are due while no worker lives end when one is back', async () => {
    // The waits must not be due before the worker is frozen.
    const waits = await startWaits(10);
    const due = (await untilWaiting(api, waits.runId, waits.late.id)).waiting!.until!;
    const { worker } = stack.stack.pids;
    process.kill(worker!, 'SIGSTOP');
    assert.deepEqual(await callBack(waits.url, 'nobody is there'), { status: 200, accepted: true });
    await answer(waits, 'nobody is there');
    await eventually(() => Date.now() > Date.parse(due) + 1_000);
    process.kill(worker!, 'SIGKILL');
    await assertWell(waits, 'nobody is there');
  });

  it('an answer counts that was accepted while Temporal was away', async () => {
    const waits = await startWaits(5);
    const { temporal } = stack.stack.pids;
    process.kill(temporal!, 'SIGSTOP');
    const called = callBack(waits.url, 'without Temporal');
    const answered = answer(waits, 'without Temporal');
    await eventually(
      async () => {
        const [row] = await queryDatabase<{ accepted: boolean }>(
          stack,
          `SELECT count(*) = 2 AS accepted FROM waits WHERE run_id = $1 AND answered_at IS NOT NULL`,
          [waits.runId],
        );
        return row!.accepted;
      },
      { timeoutMs: 30_000 },
    );
    process.kill(temporal!, 'SIGKILL');
    assert.deepEqual(await called, { status: 200, accepted: true });
    await answered;
    assert.deepEqual(await callBack(waits.url, 'again'), { status: 200, accepted: false });
    await assertWell(waits, 'without Temporal');
  });
});
