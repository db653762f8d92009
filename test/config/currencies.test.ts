import assert from 'node:assert/strict';
import { Decimal } from 'decimal.js';
import { toAmount } from '../../config/currencies.js';

describe('amounts', () => {
  const currencies = new Map([
    ['USD', new Decimal(1)],
    ['EUR', new Decimal('0.92')],
  ]);
  const cases: [string, { USD: string; EUR: string }][] = [
    ['0', { USD: '0', EUR: '0' }],
    ['0.0123', { USD: '0.0123', EUR: '0.011316' }],
    ['1.500', { USD: '1.5', EUR: '1.38' }],
    ['100', { USD: '100', EUR: '92' }],
    ['0.000000000000000001', { USD: '0.000000000000000001', EUR: '0.00000000000000000092' }],
    [
      '123456789012345678901234567890.123',
      { USD: '123456789012345678901234567890.123', EUR: '113580245891358024589135802458.91316' },
    ],
  ];
  for (const [usd, amount] of cases) {
    it(`gives ${usd} USD in every currency as plain decimals`, () =>
      assert.deepEqual(toAmount(usd, currencies), amount));
  }
});
