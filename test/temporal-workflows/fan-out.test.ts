import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { fanOut, http } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const countOf = (events: { type: string }[], type: string) => events.filter((event) => event.type === type).length;

describe('wide graphs', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(() => target.close());

  it('completes a fan-out of 300 nodes with no failed workflow task', async () => {
    const join = http(`${target.url}/joined`);
    const run = await api.runToEnd(
      fanOut(300, () => http(`${target.url}/fan`), join),
      {},
      { timeoutMs: 120_000, intervalMs: 200 },
    );
    assert.equal(run.status, 'succeed');
    assert.equal(target.requestsTo('/fan').length, 300);
    assert.equal(target.requestsTo('/joined').length, 1);
    const events = await historyOf(stack, run.runId);
    assert.equal(countOf(events, 'workflowTaskFailed'), 0);
    assert.equal(countOf(events, 'workflowTaskTimedOut'), 0);
  });
});
