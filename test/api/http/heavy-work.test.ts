import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { endTurn, HeavyWork } from '../../../api/http/heavy-work.js';
import { startWithoutWaiting } from '../../../api/runs/accept-run.js';
import { ApiError } from '../../../api/http/errors.js';

const LARGE = 1024 * 1024;
const { signal } = new AbortController();
setMaxListeners(300, signal);

describe('work at large drawings', () => {
  it('is done one at a time, for the tenants in rotation', async () => {
    const queue = new HeavyWork();
    const order: string[] = [];
    let running = 0;
    const ask = (tenant: string, name: string) =>
      queue.run({ tenant, signal }, LARGE, async () => {
        running += 1;
        assert.equal(running, 1);
        await new Promise((resolve) => setTimeout(resolve, 2));
        order.push(name);
        running -= 1;
      });
    await Promise.all([...['a1', 'a2', 'a3', 'a4'].map((name) => ask('a', name)), ask('b', 'b1'), ask('c', 'c1')]);
    assert.deepEqual(order, ['a1', 'b1', 'a2', 'c1', 'a3', 'a4']);
  });

  it('is never done twice in a row for one project while others wait, however many users of it ask', async () => {
    const queue = new HeavyWork();
    const order: string[] = [];
    const ask = (tenant: string, projectId: number | undefined) =>
      queue.run({ tenant, projectId, signal }, LARGE, () => void order.push(tenant));
    await Promise.all([
      ...['a', 'b', 'c', 'd', 'e'].map((user) => ask(user, 1)),
      ...['x', 'y'].map((user) => ask(user, 2)),
      ask('z', undefined),
    ]);
    const projects = order.map((user) => ('abcde'.includes(user) ? 1 : 2));
    assert.deepEqual(projects.slice(0, 7), [1, 2, 1, 2, 1, 2, 1], order.join(''));
  });

  it('pauses after each task for as long as the task has occupied the event loop', async () => {
    const queue = new HeavyWork();
    const times: number[] = [];
    const occupy = () =>
      queue.run({ tenant: 'a', signal }, LARGE, () => {
        times.push(performance.now());
        while (performance.now() - times.at(-1)! < 50);
      });
    await Promise.all([occupy(), occupy()]);
    assert.ok(times[1]! - times[0]! >= 95, `${times[1]! - times[0]!} ms`);
  });

  it('is not queued when it is small', async () => {
    const queue = new HeavyWork();
    let end = (): void => undefined;
    const first = queue.run({ tenant: 'a', signal }, LARGE, () => new Promise<void>((resolve) => (end = resolve)));
    assert.equal(await queue.run({ tenant: 'b', signal }, 1_000, () => 'at once'), 'at once');
    end();
    await first;
  });

  it('delays no other work after it has ended its turn, and its own end then starts no second one', async () => {
    const queue = new HeavyWork();
    const order: string[] = [];
    let end = (): void => undefined;
    const first = queue.run({ tenant: 'a', signal }, LARGE, async () => {
      endTurn();
      endTurn();
      await new Promise<void>((resolve) => (end = resolve));
      order.push('a');
    });
    let running = 0;
    const others = ['b', 'c', 'd'].map((tenant) =>
      queue.run({ tenant, signal }, LARGE, async () => {
        running += 1;
        assert.equal(running, 1);
        if (tenant === 'b') end();
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push(tenant);
        running -= 1;
      }),
    );
    await Promise.all([first, ...others]);
    assert.deepEqual(order, ['a', 'b', 'c', 'd']);
    endTurn();
  });

  it('does not wait for the start of a run that another request has stored, while Temporal hangs', async () => {
    const queue = new HeavyWork();
    let free = (): void => undefined;
    const startSlots = { begin: () => new Promise<void>((resolve) => (free = resolve)) };
    const accepting = queue.run({ tenant: 'a', signal }, LARGE, () =>
      startWithoutWaiting({ startSlots } as never, {} as never, {} as never, { facts: {} } as never),
    );
    assert.equal(await queue.run({ tenant: 'b', signal }, LARGE, () => 'done'), 'done');
    free();
    await accepting;
  });

  it('is refused to a tenant with too many waiting requests, and dropped when the client hangs up', async () => {
    const queue = new HeavyWork();
    let end = (): void => undefined;
    const first = queue.run({ tenant: 'a', signal }, LARGE, () => new Promise<void>((resolve) => (end = resolve)));
    const client = new AbortController();
    const gone = queue.run({ tenant: 'a', signal: client.signal }, LARGE, () => assert.fail('nobody waits for it'));
    const waiting = Array.from({ length: 255 }, () => queue.run({ tenant: 'a', signal }, LARGE, () => 'done'));
    const isOverloaded = (error: unknown) => error instanceof ApiError && error.status === 503;
    await assert.rejects(
      queue.run({ tenant: 'a', signal }, LARGE, () => 'never'),
      isOverloaded,
    );
    client.abort(new Error('hung up'));
    await assert.rejects(gone, /hung up/);
    end();
    await first;
    assert.equal(new Set(await Promise.all(waiting)).size, 1);
  });
});
