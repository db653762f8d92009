import assert from 'node:assert/strict';
import { environmentOf } from '../../faults/kinds/upgrade.js';
import { faults, runRow } from '../../faults/matrix.js';
import { toTable } from '../../faults/table.js';
import { createWorld, type World } from '../../faults/world.js';

const SETTINGS = { EXECUTION: 'visible', LOG_LEVEL: 'info' };

describe('fault matrix', function () {
  this.timeout(120_000);
  let world: World;

  before(async () => {
    world = await createWorld(SETTINGS);
  });

  // Rejects if a process is left behind.
  after(() => world.close({ keep: false }));

  it('an upgrade starts a worker with the settings of the stack', () => {
    const { EXECUTION, LOG_LEVEL, DATABASE_URL } = environmentOf(world);
    assert.deepEqual({ EXECUTION, LOG_LEVEL }, SETTINGS);
    assert.equal(DATABASE_URL, world.stack.stack.database_url);
  });

  // These rows run each graph of the load once.
  for (const name of ['kill-api', 'unrecorded-iteration']) {
    it(`a small row is survived: ${name}`, async () => {
      const fault = faults.find((each) => each.name === name)!;
      const row = await runRow(world, fault, 10);
      assert.deepEqual(row.violations, []);
      assert.ok(row.runs >= 10);
      assert.ok(toTable([row]).includes(fault.title));
      assert.match(toTable([row]), /\| yes/);
    });
  }
});
