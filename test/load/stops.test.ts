// Many runs at once, and processes that are stopped in the middle of them.
import assert from 'node:assert/strict';
import { Pool } from 'undici';
import { startApiProcess } from '../../harness/stack/api-process.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, http } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { isAlive } from '../../harness/processes/signals.js';

const RUNS = 100;
const CALLERS = 20;
const STOP_WITHIN_MS = 15_000;

describe('a stack under load', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let target: HttpTarget;
  let api: ApiClient;

  before(async () => {
    [stack, target] = await Promise.all([startStack(), startHttpTarget()]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });
  after(async () => {
    await target.close();
    await stack.stop();
  });

  it('100 runs started at once all succeed, and each node is called once', async () => {
    const workflowId = await createWorkflow('burst');
    const started = await Promise.all(Array.from({ length: RUNS }, () => api.run(workflowId)));
    assert.deepEqual(
      started.map(({ status }) => status),
      Array<number>(RUNS).fill(201),
    );
    await untilAllSucceeded(workflowId, RUNS);
    assertCalledOnce('burst', RUNS);
  });

  it('SIGTERM to the API cuts no request: each is answered, or its connection is refused', async () => {
    const workflowId = await createWorkflow('api-stop');
    const second = await startApiProcess(stack);
    const pool = new Pool(second.apiUrl, { connections: CALLERS });
    let accepted = 0;
    const outcomes = { refused: 0, cut: [] as string[] };
    const caller = async (): Promise<void> => {
      for (;;) {
        try {
          const answer = await pool.request({
            method: 'POST',
            path: `/api/v1/workflows/${workflowId}/run/`,
            headers: { 'x-api-key': stack.apiKey, 'content-type': 'application/json' },
            body: '{}',
          });
          const envelope = (await answer.body.json()) as { status: number };
          if (answer.statusCode === 200 && envelope.status === 201) accepted += 1;
          // A 503 is an answer too, and starts no run.
          else if (answer.statusCode !== 503) outcomes.cut.push(`${answer.statusCode} ${JSON.stringify(envelope)}`);
        } catch (error) {
          if ((error as { code?: string }).code !== 'ECONNREFUSED') outcomes.cut.push(String(error));
          outcomes.refused += 1;
          return;
        }
      }
    };
    const calling = Promise.all(Array.from({ length: CALLERS }, caller));
    await eventually(() => accepted > 2 * CALLERS, { timeoutMs: 60_000 });
    const stoppedAt = performance.now();
    assert.equal(await second.stop(), 0);
    assert.ok(performance.now() - stoppedAt < STOP_WITHIN_MS);
    await calling;
    await pool.close();
    assert.deepEqual(outcomes, { refused: CALLERS, cut: [] });
    await untilAllSucceeded(workflowId, accepted);
    assertCalledOnce('api-stop', accepted);
  });

  it('SIGTERM to the worker loses no run and calls no node again', async () => {
    const workflowId = await createWorkflow('worker-stop');
    await Promise.all(Array.from({ length: RUNS / 2 }, () => api.run(workflowId)));
    await eventually(() => callsTo('worker-stop').length > RUNS / 4, { timeoutMs: 60_000 });
    const pid = stack.stack.pids.worker!;
    process.kill(pid, 'SIGTERM');
    const stoppedAt = performance.now();
    await eventually(() => !isAlive(pid), { timeoutMs: STOP_WITHIN_MS + 5_000 });
    assert.ok(performance.now() - stoppedAt < STOP_WITHIN_MS);
    await eventually(() => stack.logs().includes('worker exited with code 0'));
    await untilAllSucceeded(workflowId, RUNS / 2);
    assertCalledOnce('worker-stop', RUNS / 2);
  });

  async function createWorkflow(name: string): Promise<number> {
    const project = await api.createProject();
    return api.createWorkflow(
      project,
      chain(3, (index) => http(`${target.url}/delay/200/${name}/${index}`)),
    );
  }

  async function untilAllSucceeded(workflowId: number, count: number): Promise<void> {
    await eventually(
      async () => {
        const rows = await queryDatabase<{ status: string; count: number }>(
          stack,
          'SELECT status, count(*)::integer AS count FROM runs WHERE workflow_id = $1 GROUP BY status',
          [workflowId],
        );
        assert.deepEqual(rows, [{ status: 'Succeeded', count }]);
        return true;
      },
      { timeoutMs: 170_000, intervalMs: 200 },
    );
  }

  function callsTo(name: string): string[] {
    const calls = target.requests.filter(({ path }) => path.startsWith(`/delay/200/${name}/`));
    return calls.map(({ headers }) => String(headers['idempotency-key']));
  }

  function assertCalledOnce(name: string, runs: number): void {
    const calls = callsTo(name);
    assert.deepEqual([calls.length, new Set(calls).size], [2 * runs, 2 * runs]);
  }
});
