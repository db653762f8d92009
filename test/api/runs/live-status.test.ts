import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { addLive } from '../../../api/runs/answer-poll.js';
import { createLiveStatus, type LiveStatus } from '../../../api/runs/live-status.js';
import { createQueryBreaker } from '../../../api/runs/query-breaker.js';
import { createMetrics, type Metrics } from '../../../api/observability/metrics.js';

describe('live status of runs', () => {
  describe('beside a Temporal that takes connections and never answers', function () {
    this.timeout(120_000);
    const sockets = new Set<Socket>();
    let server: Server;
    let connection: Connection;
    let metrics: Metrics;
    let liveStatus: LiveStatus;

    beforeEach(async () => {
      server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      connection = Connection.lazy({ address: `127.0.0.1:${(server.address() as AddressInfo).port}` });
      metrics = createMetrics();
      liveStatus = createLiveStatus({ temporal: new Client({ connection }), metrics });
    });
    afterEach(async () => {
      await connection.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    async function ask(...runIds: string[]): Promise<number> {
      const startedAt = performance.now();
      const answers = await Promise.all(runIds.map((runId) => liveStatus.nodesOf(runId)));
      assert.ok(answers.every((answer) => answer === undefined));
      return performance.now() - startedAt;
    }
    /** Asserts that the answer comes before a timer of 200 ms, so it has not waited for the time-out of 250 ms. */
    async function assertAtOnce(asked: Promise<number>): Promise<void> {
      const first = await Promise.race([asked.then(() => 'the answer'), pause(200).then(() => 'a timer')]);
      assert.equal(first, 'the answer');
    }
    const count = async (outcome: string): Promise<number> =>
      (await metrics.runQueries.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;

    it('waits 250 ms for a run, once for all callers, and not again soon', async () => {
      // The first call loads the client's code. Timers depend on the load of the machine, so the test measures one.
      await ask('warm-up');
      const startedAt = performance.now();
      const timer = pause(250).then(() => performance.now() - startedAt);
      const [firstMs, timerMs] = await Promise.all([ask('a', 'a', 'a'), timer]);
      assert.ok(firstMs > 200 && firstMs < timerMs * 4, `${firstMs} ms, a timer ${timerMs} ms`);
      await assertAtOnce(ask('a'));
      assert.equal(await count('timed_out'), 2);
    });

    it('waits for no run after three queries without an answer', async () => {
      await ask('a', 'b', 'c');
      await assertAtOnce(ask('d', 'e', 'f'));
      assert.deepEqual([await count('timed_out'), await count('skipped')], [3, 3]);
    });

    it('has no more than 16 queries under way', async () => {
      await ask(...Array.from({ length: 40 }, (_, index) => `run ${index}`));
      assert.deepEqual([await count('timed_out'), await count('skipped')], [16, 24]);
    });
  });

  describe('breaker', () => {
    it('opens after three queries in a row without an answer, and lets one through every five seconds', () => {
      const breaker = createQueryBreaker();
      for (const nowMs of [0, 10]) breaker.timedOut(nowMs);
      breaker.answered();
      for (const nowMs of [20, 30]) breaker.timedOut(nowMs);
      assert.deepEqual([breaker.isOpen(), breaker.admits(40)], [false, true]);
      breaker.timedOut(50);
      assert.deepEqual([breaker.isOpen(), breaker.admits(60)], [true, false]);
      assert.deepEqual(
        [5_050, 5_060, 10_049, 10_050].map((nowMs) => breaker.admits(nowMs)),
        [true, false, false, true],
      );
      breaker.answered();
      assert.deepEqual([breaker.isOpen(), breaker.admits(10_060)], [false, true]);
    });
  });

  describe('added to what is stored', () => {
    it('shows what is not stored, and a node that is stored as ended stays ended', () => {
      const stored = { ended: { id: 'ended', status: 'succeed' }, open: { id: 'open', status: 'in progress' } };
      const live = ['ended', 'open', 'new'].map((id) => ({ id, path: '' }));
      const added = { id: 'new', status: 'in progress', started_at: null, finished_at: null };
      assert.deepEqual(addLive(stored, live), { ...stored, new: added });
    });

    it('leaves out nodes of iterations', () => {
      assert.deepEqual(addLive({}, [{ id: 'inner', path: 'LOOP[3]' }]), {});
    });

    it('says nothing of a wait that began after the stored state was read', () => {
      const waiting = { for: 'human' as const, untilMs: Date.parse('2026-01-01T00:00:00.500Z') };
      const [entry] = Object.values(addLive({}, [{ id: 'asks', path: '', waiting }]));
      assert.deepEqual(entry, { id: 'asks', status: 'in progress', started_at: null, finished_at: null });
    });

    it('takes ids that name a prototype as ids', () => {
      const added = addLive({}, [{ id: '__proto__', path: '' }]);
      assert.deepEqual(Object.keys(added), ['__proto__']);
    });
  });
});
