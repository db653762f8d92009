import assert from 'node:assert/strict';
import { median, percentile, ratiosOfRounds, slope, spreadOf } from '../../bench/statistics.js';

const ONE_TO_HUNDRED = Array.from({ length: 100 }, (_, index) => index + 1);

describe('statistics of the benchmark', () => {
  it('a percentile is a value that was measured, by nearest rank, whatever the order', () => {
    assert.equal(percentile(ONE_TO_HUNDRED.toReversed(), 0.5), 50);
    assert.equal(percentile(ONE_TO_HUNDRED, 0.99), 99);
    assert.equal(percentile(ONE_TO_HUNDRED, 1), 100);
    assert.equal(percentile([3, 1, 2], 0), 1);
    assert.equal(percentile([10, 9], 0.99), 10);
  });

  it('sorts numbers as numbers', () => {
    assert.equal(percentile([9, 100, 20], 1), 100);
    assert.equal(median([9, 100, 20]), 20);
  });

  it('the median of an even number is the mean of the middle two', () => {
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.equal(median([7]), 7);
  });

  it('a spread names the middle, the lowest and the highest', () => {
    assert.deepEqual(spreadOf([5, 1, 9]), { median: 5, min: 1, max: 9 });
  });

  it('one disturbed round does not move the median of the ratios, and its own ratio is shown', () => {
    assert.deepEqual(ratiosOfRounds([10, 10, 1], [20, 20, 20]), { median: 0.5, min: 0.05, max: 0.5 });
  });

  it('a machine that becomes slower from round to round does not move the median of the ratios', () => {
    assert.deepEqual(ratiosOfRounds([30, 20, 10], [60, 40, 20]), { median: 0.5, min: 0.5, max: 0.5 });
    assert.equal(ratiosOfRounds([30, 20, 10], [50, 40, 20]).median, 0.5);
  });

  it('a slope is what one more of x adds, whatever is there without any', () => {
    const points = [5, 20, 100].map((x) => ({ x, y: 13 + 6 * x }));
    assert.ok(Math.abs(slope(points) - 6) < 1e-9);
  });

  it('nothing measured has no percentile', () => {
    assert.throws(() => percentile([], 0.5));
    assert.throws(() => median([]));
  });
});
