import assert from 'node:assert/strict';
import { reservedTokens, toCharge, type ModelCharge } from '../../config/model-price.js';

const price = (...given: Parameters<typeof charge>): string => charge(...given).amountUsd;

function charge(usage: unknown, input = '0.15', output = '0.6'): ModelCharge {
  const provider = { name: 'p', baseUrl: 'http://p/v1', apiKey: 'k' };
  const model = {
    provider,
    inputPricePerMillion: input,
    outputPricePerMillion: output,
    priceVersion: 'v',
    accepts: [],
    stream: true,
  };
  return toCharge(usage, model, { input: 1_000_000, output: 500_000 });
}

describe('price of a completion', () => {
  it('is exact, where binary floating point is not', () => {
    assert.equal(price({ prompt_tokens: 1, completion_tokens: 1 }, '0.1', '0.2'), '0.0000003');
    assert.equal(price({ prompt_tokens: 1_000_000, completion_tokens: 0 }), '0.15');
    assert.equal(
      price({ prompt_tokens: 3, completion_tokens: 0 }, '0.000000000000000001'),
      '0.000000000000000000000003',
    );
  });

  it('has no exponent, however small or large', () => {
    assert.equal(
      price({ prompt_tokens: 9007199254740991, completion_tokens: 0 }, '999999999999'),
      '9007199254731983800745.259009',
    );
    assert.doesNotMatch(price({ prompt_tokens: 1, completion_tokens: 0 }, '0.000000000000000001'), /e/i);
  });

  it('estimates a count that is none, so that no provider can make a negative, endless or free bill', () => {
    for (const tokens of [
      -5,
      1.5,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1e300,
      2 ** 53 + 2,
      '12',
      null,
      {},
      undefined,
    ]) {
      const [input, output] = [
        charge({ prompt_tokens: tokens, completion_tokens: 0 }),
        charge({ prompt_tokens: 0, completion_tokens: tokens }),
      ];
      assert.deepEqual([input.amountUsd, input.isEstimated], ['0.15', true]);
      assert.deepEqual([output.amountUsd, output.isEstimated], ['0.3', true]);
      assert.match(input.reason, /a part of the usage/);
    }
  });

  it('takes every count from 0 to 2^53 as it is', () => {
    const { tokens, isEstimated, amountUsd } = charge({ prompt_tokens: 2 ** 53, completion_tokens: -0 }, '1', '1');
    assert.deepEqual([tokens, isEstimated], [{ input: 2 ** 53, output: 0 }, false]);
    assert.equal(amountUsd, '9007199254.740992');
    assert.equal(price({ prompt_tokens: -0, completion_tokens: -0 }), '0');
  });

  it('is estimated where no usage is reported', () => {
    const none = [undefined, null, 'x', [], {}, { prompt_tokens: -1, completion_tokens: 'many' }];
    for (const usage of none) assert.equal(price(usage), '0.45');
  });
});

describe('tokens that a call is reserved at', () => {
  const output = (asked: object): number => reservedTokens(3, asked).output;

  it('are what the answer may have: the larger of both limits, also as a text, or else 4,096', () => {
    assert.deepEqual(reservedTokens(4, {}), { input: 2, output: 4_096 });
    assert.equal(output({ max_tokens: 7 }), 7);
    assert.equal(output({ max_tokens: 1, max_completion_tokens: 100_000 }), 100_000);
    assert.equal(output({ max_tokens: 100_000, max_completion_tokens: 1 }), 100_000);
    assert.equal(output({ max_tokens: '100000' }), 100_000);
    assert.equal(output({ max_tokens: ' 1e5 ', max_completion_tokens: 2.5 }), 100_000);
    for (const none of [0, -5, Number.NaN, '', 'many', null, {}, []]) assert.equal(output({ max_tokens: none }), 4_096);
  });

  it('are multiplied by the number of answers, and have an end', () => {
    assert.equal(output({ max_tokens: 10, n: 4 }), 40);
    assert.equal(output({ n: '2', best_of: 3 }), 3 * 4_096);
    for (const one of [0, -3, 'x', null, 0.5]) assert.equal(output({ max_tokens: 10, n: one, best_of: one }), 10);
    for (const endless of [1e300, Number.POSITIVE_INFINITY]) {
      assert.equal(output({ max_tokens: endless, n: endless }), Number.MAX_SAFE_INTEGER);
    }
  });
});
