import assert from 'node:assert/strict';
import { parseEnvironment } from '../../../config/environment.js';
import { nextDelaySeconds } from '../../../api/webhooks/webhook-retry.js';

describe('the retry schedule of webhooks', () => {
  const { webhookRetrySeconds: schedule } = parseEnvironment({});
  const delayAfter = (attempts: number, retryAfterMs?: number) =>
    nextDelaySeconds(schedule, { attempts, retryAfterMs });

  it('is the one of Standard Webhooks, with up to a tenth added by chance', () => {
    const planned = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
    for (const [index, seconds] of planned.entries()) {
      const delays = Array.from({ length: 50 }, () => delayAfter(index + 1)!);
      assert.ok(delays.every((delay) => delay >= seconds && delay <= seconds * 1.1));
      assert.ok(new Set(delays).size > 1, 'jitter');
    }
  });

  it('ends after ten attempts', () => {
    assert.equal(delayAfter(10), undefined);
    assert.equal(delayAfter(11), undefined);
    assert.equal(delayAfter(10, 1_000), undefined);
  });

  it('waits as long as the receiver asks, a day at most, and never shorter than planned', () => {
    assert.ok(delayAfter(1, 60_000)! >= 60);
    assert.ok(delayAfter(3, 1_000)! >= 1800);
    assert.ok(delayAfter(1, 1e15)! <= 86_400 * 1.1);
  });
});
