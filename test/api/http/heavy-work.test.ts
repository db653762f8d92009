import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { endTurn, HeavyWork } from '../../../api/http/heavy-work.js';
import { startWithoutWaiting } from '../../../api/runs/accept-run.js';
import { ApiError } from '../../../api/http/errors.js';
import type { ConversationDeps } from '../../../api/conversations/deps.js';
import { reportCancelled } from '../../../api/conversations/post-message.js';
import { scheduleRoutes } from '../../../api/schedules/routes.js';
import { createSecretBox } from '../../../db/core/secret-box.js';
import { drawing, trigger } from '../../../harness/drawing/drawing.js';
import { createGate, type Gate } from '../../../harness/timing/gate.js';
import { playedDatabase } from '../../support/played-database.js';

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

  /** Temporal, whose answers come only after the gate is opened. Opens `asked` when it is asked. */
  function slowTemporal({ opened }: Gate, asked: Gate) {
    const away = () => {
      asked.open();
      return opened.then(() => Promise.reject(new Error('away')));
    };
    const call = <T>(_limit: unknown, work: () => Promise<T>): Promise<T> => work();
    return {
      withAbortSignal: call,
      withDeadline: call,
      schedule: { getHandle: () => ({ describe: away }) },
      workflow: { getHandle: () => ({ cancel: away }) },
    };
  }
  const log = { warn: () => undefined } as never;

  it('does not wait for Temporal while a schedule is created or changed', async () => {
    const stored = { id: 's', inputEnc: Buffer.alloc(0), isPaused: true, createdAt: new Date(), lastFiringAt: null };
    const workflow = { id: 1, project_id: 1, document: drawing([trigger()]), secrets_enc: null };
    const settings = { id: 's', cron: '0 8 * * *', timeZone: 'UTC', overlap: 'skip', version: '1' };
    const body = { cron: '0 8 * * *', time_zone: 'UTC', input: {} };
    const params = { id: 1, schedule_id: 's' };
    const common = { log, caller: { userId: 1 }, access: { projectId: 1 }, params, body };
    for (const method of ['POST', 'PATCH']) {
      const queue = new HeavyWork();
      const [gate, asked] = [createGate(), createGate()];
      const db = playedDatabase(({ sql }) => ({ rows: [sql.includes('from "schedules"') ? settings : workflow] }));
      const secretBox = createSecretBox([Buffer.alloc(32)]);
      const deps = { db, secretBox, temporal: slowTemporal(gate, asked), config: { taskQueue: 'q' } };
      const audit = { change: () => Promise.resolve(stored) };
      const route = scheduleRoutes.find((each) => each.method === method)!;
      const saving = queue.run({ tenant: 'a', signal }, LARGE, () =>
        route.handler({ ...common, deps, audit } as unknown as Parameters<typeof route.handler>[0]),
      );
      await asked.opened;
      assert.equal(await queue.run({ tenant: 'b', signal }, LARGE, () => 'done'), 'done', method);
      gate.open();
      await saving;
    }
  });

  it('does not wait for Temporal while a message stops the runs of earlier ones', async () => {
    const queue = new HeavyWork();
    const [gate, asked] = [createGate(), createGate()];
    const deps = { temporal: slowTemporal(gate, asked) } as unknown as ConversationDeps;
    const posting = queue.run({ tenant: 'a', signal }, LARGE, () =>
      reportCancelled(deps, log, { ended: [], toNotify: ['run'] }),
    );
    await asked.opened;
    assert.equal(await queue.run({ tenant: 'b', signal }, LARGE, () => 'done'), 'done');
    gate.open();
    await posting;
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
