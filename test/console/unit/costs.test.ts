import assert from 'node:assert/strict';
import fc from 'fast-check';
import { daysOf, lastDays, ticksOf, toSpan } from '../../../console/pages/costs/figures.js';
import { sumDecimals } from '../../../console/ui/decimals.js';

describe('the sum of amounts', () => {
  it('is exact where doubles are not', () => {
    assert.equal(sumDecimals(['0.1', '0.2']), '0.3');
    assert.equal(
      sumDecimals(['0.00002', '0.000000000000000003', '12345678901234567890']),
      '12345678901234567890.000020000000000003',
    );
    assert.equal(sumDecimals(['1.50', '-0.5']), '1');
    assert.equal(sumDecimals(['0.25', '-0.5']), '-0.25');
    assert.equal(sumDecimals([]), '0');
  });

  it('does not depend on the order', () => {
    const amount = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat(999_999)).map(([a, b]) => `${a}.${b}`);
    fc.assert(
      fc.property(fc.array(amount), (amounts) => {
        assert.equal(sumDecimals(amounts), sumDecimals(amounts.toReversed()));
      }),
    );
  });

  it('refuses what is no plain decimal', () => {
    for (const text of ['1e5', '', 'NaN', '1.', '.5', ' 1']) assert.throws(() => sumDecimals([text]), TypeError, text);
  });
});

describe('the days of the costs', () => {
  const now = Date.parse('2030-03-01T23:30:00Z');

  it('are the last 30 of UTC, unless the address names others', () => {
    assert.deepEqual(toSpan('', '', now), { from: '2030-01-31', to: '2030-03-01' });
    assert.deepEqual(toSpan('2028-02-29', '2028-03-01', now), { from: '2028-02-29', to: '2028-03-01' });
    assert.deepEqual(toSpan('2030-02-30', '<script>', now), { from: '2030-01-31', to: '2030-03-01' });
    assert.deepEqual(lastDays(1, now), { from: '2030-03-01', to: '2030-03-01' });
  });

  it('are listed both included, none where the last one is before the first, and no more than a year', () => {
    assert.deepEqual(daysOf({ from: '2028-02-28', to: '2028-03-01' }), ['2028-02-28', '2028-02-29', '2028-03-01']);
    assert.deepEqual(daysOf({ from: '2028-03-01', to: '2028-02-28' }), []);
    assert.equal(daysOf({ from: '1000-01-01', to: '9999-12-31' }).length, 366);
  });
});

describe('the marks of an axis', () => {
  it('are round, begin at zero and reach the greatest value', () => {
    assert.deepEqual(
      ticksOf(0.00007).map(({ text }) => text),
      ['0', '0.00002', '0.00004', '0.00006', '0.00008'],
    );
    assert.deepEqual(
      ticksOf(100).map(({ text }) => text),
      ['0', '50', '100'],
    );
    fc.assert(
      fc.property(fc.double({ min: 1e-12, max: 1e12, noNaN: true }), (most) => {
        const marks = ticksOf(most);
        assert.ok(marks.length >= 3 && marks.length <= 6, `${most}: ${marks.length}`);
        assert.ok(marks.at(-1)!.value >= most * 0.999_999);
        assert.equal(new Set(marks.map(({ text }) => text)).size, marks.length);
      }),
    );
  });

  it('are zero alone where nothing was spent', () => {
    for (const most of [0, -1, Number.NaN, Infinity]) assert.deepEqual(ticksOf(most), [{ value: 0, text: '0' }]);
  });
});
