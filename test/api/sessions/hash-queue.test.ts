import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { createHashQueue } from '../../../api/sessions/hash-queue.js';
import { ApiError } from '../../../api/http/errors.js';

describe('the queue of password comparisons', () => {
  const signal = new AbortController().signal;
  const stranger = { isPreferred: false, signal };
  const known = { isPreferred: true, signal };

  /** Work that ends when `end` is called. */
  function held(order: string[], name: string) {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const work = async (): Promise<string> => {
      order.push(name);
      await ended;
      return name;
    };
    return { work, end: () => end() };
  }

  it('runs at most `atOnce` at a time, preferred ones first, each kind in its order', async () => {
    const queue = createHashQueue({ atOnce: 2, mostWaiting: 9, busy: 9 });
    const order: string[] = [];
    const names = ['a', 'b', 'stranger 1', 'stranger 2', 'known 1', 'known 2'];
    const works = names.map((name) => held(order, name));
    const results = works.map(({ work }, index) =>
      queue.run(work, names[index]!.startsWith('known') ? known : stranger),
    );
    await turn();
    assert.deepEqual(order, ['a', 'b']);
    for (const { end } of works) end();
    assert.deepEqual(await Promise.all(results), names);
    assert.deepEqual(order, ['a', 'b', 'known 1', 'known 2', 'stranger 1', 'stranger 2']);
  });

  it('answers 503 when it is full; preferred callers have a queue of their own', async () => {
    const queue = createHashQueue({ atOnce: 1, mostWaiting: 1, busy: 1 });
    const order: string[] = [];
    const works = ['a', 'b', 'c'].map((name) => held(order, name));
    const results = [queue.run(works[0]!.work, stranger), queue.run(works[1]!.work, stranger)];
    await turn();
    assert.ok(queue.isBusy());
    const isOverloaded = (error: unknown) => error instanceof ApiError && error.status === 503;
    assert.throws(() => queue.refuseWhenFull(false), isOverloaded);
    await assert.rejects(queue.run(works[2]!.work, stranger), isOverloaded);
    queue.refuseWhenFull(true);
    results.push(queue.run(works[2]!.work, known));
    for (const { end } of works) end();
    assert.deepEqual(await Promise.all(results), ['a', 'b', 'c']);
    assert.deepEqual([order, queue.isBusy()], [['a', 'c', 'b'], false]);
  });

  it('does no work for a caller that has hung up, and frees the slot after a failure', async () => {
    const queue = createHashQueue({ atOnce: 1, mostWaiting: 5, busy: 5 });
    const order: string[] = [];
    const first = held(order, 'a');
    const gone = new AbortController();
    const running = queue.run(first.work, stranger);
    const abandoned = queue.run(held(order, 'gone').work, { isPreferred: false, signal: gone.signal });
    const failing = queue.run(() => Promise.reject(new Error('no')), stranger);
    gone.abort();
    first.end();
    assert.equal(await running, 'a');
    await assert.rejects(abandoned, { name: 'AbortError' });
    await assert.rejects(failing, /no/);
    assert.equal(await queue.run(() => Promise.resolve('next'), stranger), 'next');
    assert.deepEqual(order, ['a']);
  });
});
