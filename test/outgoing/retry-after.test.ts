import assert from 'node:assert/strict';
import { retryAfterMs } from '../../outgoing/retry-after.js';

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const cases: [string | null | undefined, number | undefined][] = [
    ['12', 12_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
  ];
  for (const [value, expected] of cases) {
    it(`reads ${JSON.stringify(value)} as ${expected} ms`, () => assert.equal(retryAfterMs(value, now), expected));
  }
});
