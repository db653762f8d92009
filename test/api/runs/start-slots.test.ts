import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createGate } from '../../../harness/timing/gate.js';
import { createStartSlots } from '../../../api/runs/start-slots.js';

describe('start slots', () => {
  it('are taken in turn, and `begin` does not wait for the end of its own start', async () => {
    const slots = createStartSlots(1);
    const said: string[] = [];
    const start = (name: string) => async (): Promise<void> => {
      said.push(`${name} begins`);
      await pause(20);
      said.push(`${name} ends`);
    };
    assert.equal(await slots.begin(start('first'), 20_000), true);
    assert.deepEqual(said, ['first begins']);
    assert.equal(await slots.begin(start('second'), 20_000), true);
    assert.deepEqual(said, ['first begins', 'first ends', 'second begins']);
    await slots.idle();
    assert.equal(said.at(-1), 'second ends');
  });

  it('are not waited for longer than the given time', async () => {
    const slots = createStartSlots(1);
    const first = createGate();
    await slots.begin(() => first.opened, 20_000);
    let isBegun = false;
    const start = (): Promise<void> => {
      isBegun = true;
      return Promise.resolve();
    };
    assert.equal(await slots.begin(start, 5), false);
    first.open();
    await slots.idle();
    assert.equal(isBegun, false);
    assert.equal(await slots.begin(start, 20_000), true);
  });
});
