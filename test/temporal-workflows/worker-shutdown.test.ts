import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { chain, drawing, http, link, llm, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { isAlive } from '../../harness/processes/signals.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

describe('a worker that is stopped', function () {
  this.timeout(120_000);
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

  async function stopWorker(): Promise<void> {
    const pid = stack.stack.pids.worker!;
    await eventually(() => {
      // Signals repeatedly, because a terminal and a service manager may send more than one signal.
      if (isAlive(pid)) process.kill(pid, 'SIGTERM');
      return !isAlive(pid);
    });
  }

  it('hands back the nodes that take longer than it may stay, and the next worker does them', async () => {
    // The first calls are never answered, so a worker that waited for them would not stop before their time limit.
    const until = new Promise<never>(() => undefined);
    for (const path of ['/one', '/two']) target.on(path, [{ until }, { body: 'ok' }]);
    stack.modelProvider.script('long-model', [{ text: 'late', until }, { text: 'ok' }]);
    // The two calls and the model are in flight side by side.
    const settings = { timeout: 300 };
    const [start, one, two] = [
      trigger(),
      http(`${target.url}/one`, { settings }),
      http(`${target.url}/two`, { settings }),
    ];
    const model = llm('hello', { settings: { model_name: 'long-model' } });
    link(start, [one, two, model]);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, one, two, model]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requests.length === 2 && stack.modelProvider.requests.length === 1);
    await stopWorker();
    const { data } = await api.pollToEnd(runId, { timeoutMs: 40_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data.data));
    assert.deepEqual([target.requests.length, stack.modelProvider.requests.length], [4, 2]);
    assert.match(stack.logs(), new RegExp(`"run_id":"${runId}"[^\n]*"node is handed back and attempted later"`));
  });

  it('lets a POST on the wire end and keeps its result, however often it is signalled', async () => {
    target.on('/slow-post', { body: 'done', delayMs: 3_000 });
    const workflowId = await api.createWorkflow(
      await api.createProject(),
      chain(2, () => http(`${target.url}/slow-post`, { method: 'POST' })),
    );
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requestsTo('/slow-post').length === 1);
    await stopWorker();
    const { data } = await api.pollToEnd(runId, { timeoutMs: 40_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data.data));
    assert.equal(target.requestsTo('/slow-post').length, 1);
  });

  it('a target that asks to be tried again without delay is', async () => {
    target.on('/now', [{ status: 503, headers: { 'retry-after': '0' } }, { body: 'ok' }]);
    const { status } = await api.runToEnd(chain(2, () => http(`${target.url}/now`)));
    assert.equal(status, 'succeed');
  });
});
