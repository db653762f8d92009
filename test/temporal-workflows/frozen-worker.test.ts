import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { drawing, http, link, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

/**
 * Longer than two heartbeat time-outs and the retry interval between them: Temporal gives up two attempts of a node.
 */
const FROZEN_MS = 24_000;

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
      http(`${target.url}/delay/27000/post`, { method: 'POST', body: { n: 1 } }),
      http(`${target.url}/delay/27000/get`),
    ];
    link(start, [post, get]);
    const workflowId = await api.createWorkflow(await api.createProject(), drawing([start, post, get]));
    const runId = (await api.run(workflowId)).data.id;
    await eventually(() => target.requests.length === 2);
    const worker = stack.stack.pids.worker!;
    process.kill(worker, 'SIGSTOP');
    await pause(FROZEN_MS);
    process.kill(worker, 'SIGCONT');
    const { data } = await api.pollToEnd(runId, { timeoutMs: 40_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data.data));
    assert.equal(target.requestsTo('/delay/27000/post').length, 1);
    assert.equal(target.requestsTo('/delay/27000/get').length, 1);
  });
});
