import assert from 'node:assert/strict';
import { retryPolicyOf } from '../../graph/nodes/every-node.js';

describe('the attempts of a node', () => {
  const own = { maxAttempts: 4, delayMs: (attempt: number) => Math.min(500 * 2 ** (attempt - 1), 1_500) };
  const delaysOf = (retry: unknown) => {
    const { maxAttempts, delayMs } = retryPolicyOf({ retry }, own);
    return [maxAttempts, delayMs(1), delayMs(2), delayMs(3)];
  };

  it('are those of its kind where it says nothing, or something wrong', () => {
    for (const retry of [undefined, null, {}, { max_attempts: 0 }, 'x']) {
      assert.deepEqual(delaysOf(retry), [4, 500, 1_000, 1_500], JSON.stringify(retry));
    }
  });

  it('follow each of its fields, also alone', () => {
    assert.deepEqual(delaysOf({ max_attempts: 2 }), [2, 500, 1_000, 1_500]);
    assert.deepEqual(delaysOf({ delay: 1 }), [4, 1_000, 2_000, 4_000]);
    assert.deepEqual(delaysOf({ backoff: 1 }), [4, 500, 500, 500]);
    assert.deepEqual(delaysOf({ backoff: 10 }), [4, 500, 5_000, 50_000]);
    assert.deepEqual(delaysOf({ max_attempts: 3, delay: 0, backoff: 3 }), [3, 0, 0, 0]);
    assert.deepEqual(delaysOf({ delay: 3_600, backoff: 10 }), [4, 3_600_000, 3_600_000, 3_600_000]);
  });
});
