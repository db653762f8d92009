import assert from 'node:assert/strict';
import { createApiClient } from '../../harness/client/api-client.js';
import { chain, llm } from '../../harness/drawing/drawing.js';
import { withTemporal } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';

/** The kind of a queue that only one worker polls: the worker that has the run cached. */
const STICKY = 2; // temporal.api.enums.v1.TaskQueueKind

describe('cache of workflows', function () {
  this.timeout(120_000);

  // The suite runs twice, with both values: test/runner/tiers.ts.
  it('is off exactly where WORKER_CACHED_WORKFLOWS is 0: then no step is kept for the worker that made the last', async () => {
    const stack = await sharedStack();
    const api = createApiClient(stack.apiUrl, stack.apiKey);
    const run = await api.runToEnd(chain(3, () => llm('hello')));
    assert.equal(run.status, 'succeed');
    const { events } = await withTemporal(stack, (client) => client.workflow.getHandle(run.runId).fetchHistory());
    const queues = (events ?? []).flatMap((event) => event.workflowTaskScheduledEventAttributes?.taskQueue ?? []);
    assert.ok(queues.length >= 2);
    const areKept = queues.some(({ kind }) => Number(kind) === STICKY);
    assert.equal(areKept, process.env['WORKER_CACHED_WORKFLOWS'] !== '0');
  });
});
