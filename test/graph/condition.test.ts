import assert from 'node:assert/strict';
import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { compare } from '../../graph/condition.js';
import { cpuMilliseconds } from '../support/cpu-time.js';

const Exact = Decimal.clone({ precision: 2000, maxE: 9e15, minE: -9e15 });

function orderOf(left: string, right: string): number {
  if (compare(left, '==', right)) return 0;
  return compare(left, '<', right) ? -1 : 1;
}

const digits = fc.stringMatching(/^[0-9]{1,40}$/);
const numberText = fc
  .tuple(
    fc.constantFrom('', '+', '-'),
    digits,
    fc.option(digits),
    fc.option(fc.tuple(fc.constantFrom('e', 'E'), fc.integer({ min: -60, max: 60 }))),
  )
  .map(([sign, integer, fraction, exponent]) => {
    return `${sign}${integer}${fraction === null ? '' : `.${fraction}`}${exponent ? exponent.join('') : ''}`;
  });
const wordText = fc.string({ unit: 'binary' }).map((text) => `x${text}x`);

describe('compare: properties', () => {
  it('orders integers of any size as integers', () => {
    const integer = fc.bigInt({ min: -(10n ** 60n), max: 10n ** 60n });
    fc.assert(
      fc.property(integer, integer, (left, right) => {
        assert.equal(orderOf(String(left), String(right)), left === right ? 0 : left < right ? -1 : 1);
      }),
    );
  });

  it('orders decimal numbers as an exact decimal library does', () => {
    fc.assert(
      fc.property(numberText, numberText, (left, right) => {
        assert.equal(orderOf(left, right), new Exact(left).cmp(right));
      }),
      { numRuns: 1000 },
    );
  });

  it('does not see how a number is written', () => {
    fc.assert(
      fc.property(numberText, (text) => {
        assert.equal(orderOf(text, new Exact(text).toFixed()), 0);
        assert.equal(orderOf(text, new Exact(text).toExponential()), 0);
      }),
    );
  });

  for (const [kind, text] of Object.entries({ numbers: numberText, texts: wordText })) {
    it(`is a total order on ${kind}`, () => {
      fc.assert(
        fc.property(text, text, text, (a, b, c) => {
          assert.equal(orderOf(a, a), 0);
          assert.equal(orderOf(a, b) + orderOf(b, a), 0);
          const [first, second, third] = [a, b, c].toSorted(orderOf) as [string, string, string];
          assert.ok(orderOf(first, second) <= 0 && orderOf(second, third) <= 0 && orderOf(first, third) <= 0);
        }),
      );
    });
  }

  it('orders texts as their lists of code points', () => {
    fc.assert(
      fc.property(wordText, wordText, (left, right) => {
        const [a, b] = [Array.from(left, (c) => c.codePointAt(0)), Array.from(right, (c) => c.codePointAt(0))];
        const at = a.findIndex((point, index) => point !== b[index]);
        const expected = at < 0 ? a.length - b.length : (a[at] ?? -1) - (b[at] ?? -1);
        assert.equal(orderOf(left, right), Math.sign(expected));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes numbers, exponents and texts of megabytes in under five seconds of processor time', () => {
    const million = '9'.repeat(1_000_000);
    const tookMs = cpuMilliseconds(() => {
      assert.equal(orderOf(million, `${million}1`), -1);
      assert.equal(orderOf(`0.${'0'.repeat(5_000_000)}1`, '0'), 1);
      assert.equal(orderOf(`1e${'0'.repeat(5_000_000)}1`, '10'), 0);
      assert.equal(orderOf(`1e${million}`, `1e${million}`), 0);
      assert.equal(orderOf(`${' '.repeat(5_000_000)}5`, '5'), 0);
      assert.equal(orderOf('a'.repeat(5_000_000), `${'a'.repeat(5_000_000)}b`), -1);
    });
    assert.ok(tookMs < 5000, `${tookMs} ms`);
  });
});
