// Tests the cache of node labels for the progress of tool calls: calls share it, and its size is bounded.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { labelsOf } from '../../../api/mcp-server/node-labels.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { storeSnapshot } from '../../../db/runs/snapshots-repository.js';
import type { Plan } from '../../../graph/plan.js';
import { sharedStack } from '../../support/shared-stack.js';

const NODES = 5_000;

describe('the labels of nodes for progress', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    const stack = await sharedStack();
    const options = { poolMax: 4, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.stack.database_url, ...options });
  });
  after(() => db.destroy());

  const store = (nodes: number): Promise<Buffer> => {
    const ids = Array.from({ length: nodes }, (_, index) => `node ${index}`);
    const plan: Plan = {
      ids,
      kinds: ids.map(() => 'set'),
      labels: ids.map((id) => `Label of ${id}`),
      out: ids.map(() => []),
      indegree: ids.map(() => 0),
    };
    return storeSnapshot(db, JSON.stringify(randomUUID()), plan);
  };

  it('are shared by all calls of one drawing', async () => {
    const hash = await store(NODES);
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => labelsOf(db, hash)));
    assert.deepEqual([first!.size, first!.get('node 4999')], [NODES, 'Label of node 4999']);
    for (const labels of [...others, await labelsOf(db, Buffer.from(hash))]) assert.equal(labels, first);
  });

  it('are kept for the large drawings that were used last; those of others are read again', async () => {
    const first = await store(NODES);
    const before = await labelsOf(db, first);
    const hashes = await Promise.all(Array.from({ length: 20 }, () => store(NODES)));
    const kept = await Promise.all(hashes.map((hash) => labelsOf(db, hash)));
    assert.equal(await labelsOf(db, hashes.at(-1)!), kept.at(-1));
    const again = await labelsOf(db, first);
    assert.notEqual(again, before);
    assert.deepEqual(again, before);
  });

  it('are none for a drawing that does not exist', async () => {
    assert.equal((await labelsOf(db, Buffer.alloc(32))).size, 0);
  });
});
