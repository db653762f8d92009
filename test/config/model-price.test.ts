import assert from 'node:assert/strict';
import { toCharge } from '../../config/model-price.js';

function price(usage: unknown, input = '0.15', output = '0.6'): string {
  const provider = { name: 'p', baseUrl: 'http://p/v1', apiKey: 'k' };
  return toCharge(usage, { provider, inputPricePerMillion: input, outputPricePerMillion: output, priceVersion: 'v' })
    .amountUsd;
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

  it('counts what is no count of tokens as none, so that no provider can make a negative or endless bill', () => {
    for (const tokens of [-5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, '12', null, {}]) {
      assert.equal(price({ prompt_tokens: tokens, completion_tokens: 0 }), '0');
    }
    for (const usage of [undefined, null, 'x', []]) assert.equal(price(usage), '0');
  });
});
