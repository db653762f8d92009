import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { chain, condition, http } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { historyOf, transactionsOf } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

const countOf = (events: { type: string }[], type: string) => events.filter((event) => event.type === type).length;

describe('long graphs', function () {
  this.timeout(300_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });

  after(() => target.close());

  it('completes a chain of 2,000 nodes, going on in new executions before history is full', async () => {
    // 1,000 requests at 6 events each pass the suggested limit of 4,096 events at least once.
    const drawn = chain(2_000, (index) => (index % 2 === 0 ? http(`${target.url}/chain`) : condition('1', '<', '2')));
    const run = await api.runToEnd(drawn, {}, { timeoutMs: 280_000, intervalMs: 500 });
    assert.equal(run.status, 'succeed');
    assert.equal(Object.keys(run.nodes).length, 2_000);
    assert.equal(target.requestsTo('/chain').length, 1_000);
    assert.equal((await transactionsOf(stack, run.runId)).length, 2_000);
    const events = await historyOf(stack, run.runId);
    assert.ok(countOf(events, 'workflowExecutionContinuedAsNew') >= 1, 'the run went on in a new execution');
    assert.equal(countOf(events, 'workflowTaskFailed'), 0);
  });
});
