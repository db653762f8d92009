import assert from 'node:assert/strict';
import { isRunning, sandboxProcessesOf } from '../activities/kinds/code/sandboxes.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, linkInRow, node, trigger } from '../../harness/drawing/drawing.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

/** A loop inside a built-in function, which does not check the time: it ends only when its process is killed. */
const SLOW = 'Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)';

/** Code has the lowest priority, so it hardly progresses on a busy machine. */
const LONG = { timeoutMs: 240_000 };

describe('code and dying workers', function () {
  this.timeout(300_000);
  let stack: TestStack;
  let api: ApiClient;

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });
  after(() => stack?.stop());

  async function startCode(code: string, timeout: number) {
    const drawn = node('code', { code, inputs: { n: 1 }, settings: { timeout } });
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), drawn])));
    const runId = (await api.run(workflowId)).data.id;
    return { workflowId, runId, nodeId: drawn.id };
  }

  async function attemptsOf(workflowId: number, runId: string, nodeId: string): Promise<number> {
    const place = `/workflows/${workflowId}/history/${runId}/nodes/${nodeId}/`;
    return (await api.get<{ attempts: unknown[] }>(place)).body.attempts.length;
  }

  /** Waits until the worker has `count` sandbox processes. */
  function processesOf(worker: number, count: number): Promise<number[]> {
    return eventually(() => {
      const found = sandboxProcessesOf(worker);
      return found.length === count && found;
    }, LONG);
  }

  it('kill -9 of the worker leaves no process behind, and the code runs again in the next worker', async () => {
    const worker = stack.stack.pids.worker!;
    const { runId, nodeId } = await startCode(SLOW, 5);
    const [pid] = await processesOf(worker, 1);
    process.kill(worker, 'SIGKILL');
    await eventually(() => !isRunning(pid!), LONG);
    // The next attempt gets the full time limit.
    const end = await api.pollToEnd(runId, LONG);
    assert.equal(end.data.data![nodeId]!.error!.code, 'code_timeout');
    assert.notEqual(stack.stack.pids.worker, worker);
  });

  it('a sandbox process that the system kills is replaced, and its code runs again', async () => {
    const { runId, nodeId } = await startCode(
      'const end = Date.now() + 3000; while (Date.now() < end); return inputs.n + 1',
      30,
    );
    const worker = await eventually(() => stack.stack.pids.worker);
    const [pid] = await eventually(() => {
      const found = sandboxProcessesOf(worker).filter((each) => isRunning(each));
      return found.length > 0 && found;
    }, LONG);
    process.kill(pid!, 'SIGKILL');
    const end = await api.pollToEnd(runId, LONG);
    assert.equal(end.data.data![nodeId]!.result?.['value'], 2, JSON.stringify(end));
  });

  it('code whose process is lost each time fails with sandbox_failed after four attempts', async () => {
    const worker = await eventually(() => stack.stack.pids.worker);
    // These are idle processes that wait for programs of other projects.
    const killed = new Set(sandboxProcessesOf(worker));
    const { workflowId, runId, nodeId } = await startCode(`return ${SLOW}`, 30);
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const pid = await eventually(() => sandboxProcessesOf(worker).find((each) => !killed.has(each)), LONG);
      killed.add(pid);
      process.kill(pid, 'SIGKILL');
    }
    const end = await api.pollToEnd(runId, LONG);
    assert.equal(end.data.data![nodeId]!.error!.code, 'sandbox_failed', JSON.stringify(end));
    assert.equal(await attemptsOf(workflowId, runId, nodeId), 4);
  });

  it('a worker that stops hands the code back, and its processes end with it', async () => {
    const worker = await eventually(() => stack.stack.pids.worker);
    // The limit is above the 12 s in which a stopping worker lets nodes finish. On a busy machine, the next attempt may
    // take ten times its limit.
    const { runId, nodeId } = await startCode(`return ${SLOW}`, 13);
    const pids = await eventually(() => {
      const found = sandboxProcessesOf(worker);
      return found.length > 0 && found;
    }, LONG);
    process.kill(worker, 'SIGTERM');
    await eventually(() => pids.every((each) => !isRunning(each)), LONG);
    const next = await eventually(() => {
      const pid = stack.stack.pids.worker;
      return pid !== worker && pid;
    }, LONG);
    // The next worker has no process before it gets code.
    await eventually(() => sandboxProcessesOf(next).length > 0, LONG);
    const end = await api.pollToEnd(runId, LONG);
    assert.equal(end.data.data![nodeId]!.error!.code, 'code_timeout');
  });
});
