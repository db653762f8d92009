import assert from 'node:assert/strict';
import { Isolation, toTreatment } from '../../../activities/node/isolation.js';

describe('nodes that run apart', () => {
  const never = new AbortController().signal;
  const LONG_MS = 60_000;

  it('are four at once, and a fifth begins when one of them ends', async () => {
    const isolation = new Isolation();
    for (let begun = 0; begun < 4; begun += 1) assert.equal(await isolation.acquire(false, 0, never), true);
    assert.equal(await isolation.acquire(false, 0, never), false);
    const fifth = isolation.acquire(false, LONG_MS, never);
    isolation.release();
    assert.equal(await fifth, true);
    assert.equal(await isolation.acquire(false, 0, never), false);
  });

  it('are one at a time where one of them runs alone', async () => {
    const isolation = new Isolation();
    assert.equal(await isolation.acquire(false, 0, never), true);
    const alone = isolation.acquire(true, LONG_MS, never);
    isolation.release();
    assert.equal(await alone, true);
    assert.equal(await isolation.acquire(false, 0, never), false);
    assert.equal(await isolation.acquire(true, 0, never), false);
    const waiting = [isolation.acquire(false, LONG_MS, never), isolation.acquire(false, LONG_MS, never)];
    isolation.release();
    assert.deepEqual(await Promise.all(waiting), [true, true]);
  });

  it('wait no longer when they are cancelled, and hold nothing then', async () => {
    const isolation = new Isolation();
    const cancelled = new AbortController();
    assert.equal(await isolation.acquire(true, 0, never), true);
    const waiting = isolation.acquire(false, LONG_MS, cancelled.signal);
    cancelled.abort();
    assert.equal(await waiting, false);
    assert.equal(await isolation.acquire(false, 0, cancelled.signal), false);
    isolation.release();
    assert.equal(await isolation.acquire(true, 0, never), true);
  });

  it('are given up when their shares reach three', () => {
    assert.equal(toTreatment({ count: 3, shares: 2.9 }), 'together');
    assert.equal(toTreatment({ count: 4, shares: 1.1 }), 'alone');
    assert.equal(toTreatment({ count: 3, shares: 3 }), 'given up');
    assert.equal(toTreatment({ count: 14, shares: 2 / 60 + 12 / 4 }), 'given up');
    assert.equal(toTreatment({ count: 9, shares: 9 * 0.333_333_333_333_333 }), 'given up', 'a sum of thirds');
  });
});
