import assert from 'node:assert/strict';
import { startDeadline } from '../../outgoing/pausable-deadline.js';

describe('a deadline that pauses', () => {
  const never = (): Promise<void> => new Promise(() => undefined);

  it('is not reached while the work lasts for which it pauses', async () => {
    const deadline = startDeadline(50);
    await deadline.outside(new Promise((resolve) => setTimeout(resolve, 150)));
    assert.equal(deadline.signal.aborted, false);
    deadline.clear();
  });

  it('ends the wait for that work when it is reached after all, or when its caller stops', async () => {
    const stop = new AbortController();
    const deadline = startDeadline(60_000, stop.signal);
    const waiting = deadline.outside(never());
    stop.abort(new Error('the caller has gone'));
    await assert.rejects(waiting, /the caller has gone/);
    await assert.rejects(deadline.outside(never()), /the caller has gone/);
    deadline.clear();
  });
});
