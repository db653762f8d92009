import assert from 'node:assert/strict';
import { faults, runRow } from '../../faults/matrix.js';
import { toTable } from '../../faults/table.js';
import { createWorld, type World } from '../../faults/world.js';

describe('fault matrix', function () {
  this.timeout(120_000);
  let world: World;

  before(async () => {
    world = await createWorld();
  });

  // Rejects when a process is left behind.
  after(() => world.close({ keep: false }));

  it('a small row is survived', async () => {
    const fault = faults.find(({ name }) => name === 'kill-api');
    const row = await runRow(world, fault!, 5);
    assert.deepEqual(row.violations, []);
    assert.equal(row.runs, 5);
    assert.equal(row.succeeded, 5);
    assert.match(toTable([row]), /kill -9 of the API .*\| yes/);
  });
});
