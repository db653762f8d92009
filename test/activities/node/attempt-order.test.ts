import assert from 'node:assert/strict';
import { afterEarlierAttempts } from '../../../activities/node/attempt-order.js';

function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('attempts of one activity in one process', () => {
  const { signal } = new AbortController();

  it('run one after the other, also when one of them fails', async () => {
    const order: string[] = [];
    const first = gate();
    const one = afterEarlierAttempts('run/node', signal, async () => {
      await first.opened;
      order.push('first');
      throw new Error('failed');
    });
    const two = afterEarlierAttempts('run/node', signal, async () => void order.push('second'));
    first.open();
    await assert.rejects(one, /failed/);
    await two;
    assert.deepEqual(order, ['first', 'second']);
  });

  it('do not wait for those of other activities', async () => {
    const first = gate();
    const one = afterEarlierAttempts('run/slow', signal, () => first.opened);
    assert.equal(await afterEarlierAttempts('run/quick', signal, async () => 'done'), 'done');
    first.open();
    await one;
  });

  it('leave the line when they are cancelled, and those behind them still wait for those before them', async () => {
    const order: string[] = [];
    const first = gate();
    const cancelled = new AbortController();
    const one = afterEarlierAttempts('run/line', signal, async () => {
      await first.opened;
      order.push('first');
    });
    const two = afterEarlierAttempts('run/line', cancelled.signal, async () => void order.push('second'));
    const three = afterEarlierAttempts('run/line', signal, async () => void order.push('third'));
    cancelled.abort(new Error('given up'));
    await assert.rejects(two, /given up/);
    assert.deepEqual(order, []);
    first.open();
    await Promise.all([one, three]);
    assert.deepEqual(order, ['first', 'third']);
  });
});
