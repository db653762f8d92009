import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { withTemporal } from '../support/inspect.js';

describe('a worker that stands still', function () {
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

  it('records the answer to what was on the wire when it goes on, and repeats none of it', async () => {
    const [start, post, get] = [
      trigger(),
      http(`${target.url}/hold/post`, { method: 'POST', body: { n: 1 }, settings: { timeout: 300 } }),
      http(`${target.url}/hold/get`, { settings: { timeout: 300 } }),
    ];
    link(start, [post, get]);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, post, get]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requests.length === 2);
    const worker = stack.stack.pids.worker!;
    process.kill(worker, 'SIGSTOP');
    try {
      // Temporal gives up two attempts of each node, after two heartbeat time-outs: the third is scheduled.
      await withTemporal(stack, (client) =>
        eventually(async () => {
          const { raw } = await client.workflow.getHandle(runId).describe();
          const attempts = raw.pendingActivities?.map(({ attempt }) => attempt) ?? [];
          return attempts.length === 2 && attempts.every((attempt) => attempt! >= 3);
        }),
      );
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    for (const path of ['/hold/post', '/hold/get']) target.release(path);
    const { data } = await api.pollToEnd(runId, { timeoutMs: 60_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data.data));
    assert.equal(target.requestsTo('/hold/post').length, 1);
    assert.equal(target.requestsTo('/hold/get').length, 1);
  });
});
