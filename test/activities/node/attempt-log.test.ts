import assert from 'node:assert/strict';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, http } from '../../../harness/drawing/drawing.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { sharedStack } from '../../support/shared-stack.js';

describe('the worker’s log', function () {
  this.timeout(120_000);

  it('says of each attempt that another follows, and of the node that it is given up: with codes, without words', async () => {
    const [stack, target] = await Promise.all([sharedStack(), startHttpTarget()]);
    try {
      target.on('/down', [{ status: 503, body: 'words of the other side', headers: { 'retry-after': '0' } }]);
      const call = http(`${target.url}/down?key=in-the-query`);
      const run = await createApiClient(stack.apiUrl, stack.apiKey).runToEnd(chain(2, () => call));
      assert.equal(run.status, 'failed');
      const lines = await eventually(() => {
        const found = stack
          .logs()
          .split('\n')
          .filter((line) => line.includes(run.runId) && line.includes('"node_id":'));
        return found.some((line) => line.includes('node failed')) && found;
      });
      const said = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const facts = { level: 'info', run_id: run.runId, node_id: call.id, kind: 'http', error_code: 'http_status' };
      const own = ['time', 'pid', 'hostname', 'name'];
      const tries = said.map((line) => Object.fromEntries(Object.entries(line).filter(([key]) => !own.includes(key))));
      assert.deepEqual(tries, [
        ...[1, 2, 3].map((attempt) => ({ ...facts, attempt, delay_ms: 0, msg: 'node is attempted again' })),
        { ...facts, attempt: 4, msg: 'node failed' },
      ]);
      assert.doesNotMatch(lines.join('\n'), /words of the other side|in-the-query/);
    } finally {
      await target.close();
    }
  });
});
