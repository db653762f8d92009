import assert from 'node:assert/strict';
import { ProcessSlots } from '../../processes/process-slots.js';

const NEVER = new AbortController().signal;

describe('slots for processes', () => {
  /** Returns a function that waits for a slot, and then adds `name` to `begun`. */
  function taking(slots: ProcessSlots, begun: string[]) {
    return (projectId: number, name: string, signal = NEVER) =>
      slots.take(projectId, signal).then(() => void begun.push(name));
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('are given in order of arrival, past projects that have as many as they may have', async () => {
    const slots = new ProcessSlots({ total: 3, perOwner: 2 });
    const begun: string[] = [];
    const take = taking(slots, begun);
    void take(1, 'a1');
    void take(1, 'a2');
    void take(1, 'a3');
    void take(2, 'b1');
    void take(2, 'b2');
    await settled();
    assert.deepEqual(begun, ['a1', 'a2', 'b1']);
    slots.release(2);
    await settled();
    assert.deepEqual(begun.slice(3), ['b2']);
    slots.release(1);
    await settled();
    assert.deepEqual(begun.slice(4), ['a3']);
  });

  it('are not taken by a caller that is stopped before or while it waits', async () => {
    const slots = new ProcessSlots({ total: 1, perOwner: 1 });
    const begun: string[] = [];
    const take = taking(slots, begun);
    await take(1, 'a');
    const stop = new AbortController();
    const waiting = take(2, 'b', stop.signal);
    void take(3, 'c');
    stop.abort(new Error('stopped'));
    await assert.rejects(waiting, { message: 'stopped' });
    await assert.rejects(take(2, 'd', stop.signal), { message: 'stopped' });
    slots.release(1);
    await settled();
    assert.deepEqual(begun, ['a', 'c']);
  });
});
