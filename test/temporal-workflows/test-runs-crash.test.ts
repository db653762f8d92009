import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Envelope, NodeEntry } from '../../harness/client/api-client.js';
import { drawing, http, linkInRow, resultOf, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { killAndAwaitRestart } from '../../harness/stack/kill-part.js';
import { startStack, type StartedStack } from '../../harness/stack/stack.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';

describe('test runs and workers that die', function () {
  this.timeout(120_000);
  let stack: StartedStack;
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

  it('a worker that dies amid a test leaves it to the next one, which takes the same results', async () => {
    const [given, held, last] = [`/${randomUUID()}`, `/delay/8000/${randomUUID()}`, `/${randomUUID()}`];
    const a = http(`${target.url}${given}`);
    const b = http(`${target.url}${held}`);
    const c = http(`${target.url}${last}`, { method: 'POST', body: resultOf(a) });
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow([trigger(), a, b, c])));
    const body = { mode: 'from', node: b.id, mocks: { [a.id]: { content: 'given before' } } };
    const { body: started } = await api.post<Envelope>(`/workflows/${workflowId}/test/`, { body });
    await eventually(() => target.requestsTo(held).length === 1);
    await killAndAwaitRestart(stack, 'worker');
    const { data } = await api.pollToEnd(started.data.id, { timeoutMs: 60_000 });
    assert.equal(data.status, 'succeed', JSON.stringify(data));
    assert.equal(target.requestsTo(given).length, 0);
    assert.equal(target.requestsTo(held).length, 2, 'a call that only reads is repeated');
    assert.deepEqual(
      target.requestsTo(last).map(({ body: sent }) => sent),
      ['given before'],
    );
    assert.equal((data.data![a.id] as NodeEntry & { source?: string }).source, 'mock');
  });
});
