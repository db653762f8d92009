import assert from 'node:assert/strict';
import { createApiClient } from '../../../harness/client/api-client.js';
import { drawing, trigger } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import { createAccount, openSession } from '../accounts.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('polls by key and by session', function () {
  this.timeout(120_000);

  it('give the same answer, with an id in any case of its letters, and use the last of several ids', async () => {
    const stack = await sharedStack();
    const account = await createAccount(stack);
    const session = createApiClient(stack.apiUrl, await openSession(stack, account));
    const { runId } = await account.api.runToEnd(drawing([trigger()]));
    for (const query of [`id=${runId}`, `id=${runId.toUpperCase()}`, `id=${UNKNOWN}&id=${runId}`, `id=${UNKNOWN}`]) {
      const path = `/workflows/workflow_result/?${query}`;
      const [byKey, bySession] = [await account.api.get(path), await session.get(path)];
      assert.equal(byKey.status, 200, query);
      assert.deepEqual(bySession.body, byKey.body, query);
      const { status } = (byKey.body as { data: { status: string } }).data;
      assert.equal(status, query.endsWith(UNKNOWN) ? 'not found' : 'succeed', query);
    }
  });
});
