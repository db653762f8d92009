import assert from 'node:assert/strict';
import { createPacer } from '../../../api/loops/background-loop.js';

describe('the pacer', () => {
  it('lets the first through at once and the others one after the other, at most as many a second as it was told', async () => {
    const next = createPacer(50);
    const { signal } = new AbortController();
    const startedAt = performance.now();
    const order: number[] = [];
    await Promise.all(Array.from({ length: 10 }, (_, index) => next(signal).then(() => order.push(index))));
    assert.ok(performance.now() - startedAt >= 175);
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
  });

  it('ends the wait of a caller whose signal is aborted', async () => {
    const next = createPacer(0.001);
    const stopped = new AbortController();
    await next(stopped.signal);
    const second = next(stopped.signal);
    stopped.abort();
    await second;
  });
});
