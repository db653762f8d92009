import assert from 'node:assert/strict';
import { createApiClient } from '../../../harness/client/api-client.js';
import { chain, http } from '../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { withTemporal } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';

describe('threads for workflow code', function () {
  this.timeout(120_000);

  it('take no stack trace of promises: the worker answers the query for one with a sentence', async () => {
    const stack = await sharedStack();
    const target = await startHttpTarget();
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const run = await api.runToEnd(chain(1, () => http(`${target.url}/traced`)));
      await withTemporal(stack, async (client) => {
        const query = client.workflow.getHandle(run.runId).query('__stack_trace');
        await assert.rejects(query, /not enabled on this worker/);
      });
    } finally {
      await target.close();
    }
  });
});
