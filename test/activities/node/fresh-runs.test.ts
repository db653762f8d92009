import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createFreshRuns } from '../../../activities/node/fresh-runs.js';

describe('fresh runs', () => {
  const node = (runId: string, nodeId = 'a') => ({ runId, path: '', nodeId });

  it('let each node be begun unseen once', () => {
    const fresh = createFreshRuns();
    fresh.add('run', 0);
    assert.deepEqual([fresh.isFirst(node('run')), fresh.isFirst(node('run'))], [true, false]);
    assert.equal(fresh.isFirst(node('run', 'b')), true);
  });

  it('are only those that began here', () => {
    const fresh = createFreshRuns();
    fresh.add('run', 0);
    assert.equal(fresh.isFirst(node('another')), false);
  });

  it('are none whose first workflow task is repeated', () => {
    const fresh = createFreshRuns();
    fresh.add('run', 0);
    fresh.forget('run');
    assert.equal(fresh.isFirst(node('run')), false);
  });

  it('are none that were accepted longer ago than another worker needs to get them', async () => {
    const fresh = createFreshRuns();
    fresh.add('waited', 6_000);
    fresh.add('runs', 5_960);
    assert.deepEqual([fresh.isFirst(node('waited')), fresh.isFirst(node('runs'))], [false, true]);
    await pause(50);
    assert.equal(fresh.isFirst(node('runs', 'b')), false);
  });

  it('end when the clock on the wall jumps, as after a machine has stood still', () => {
    const fresh = createFreshRuns();
    fresh.add('run', 0);
    const { now } = Date;
    Date.now = () => now() + 7_000;
    try {
      assert.equal(fresh.isFirst(node('run')), false);
    } finally {
      Date.now = now;
    }
  });
});
