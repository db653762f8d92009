import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Client, Connection } from '@temporalio/client';
import { mergeLive } from '../../../api/runs/answer-poll.js';
import { createLiveStatus, type LiveStatus } from '../../../api/runs/live-status.js';
import { createQueryBreaker } from '../../../api/runs/query-breaker.js';
import { createMetrics, type Metrics } from '../../../api/observability/metrics.js';
import type { PolledNode } from '../../../db/runs/poll-repository.js';

describe('live status of runs', () => {
  describe('beside a Temporal that takes connections and never answers', function () {
    this.timeout(20_000);
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
    const count = async (outcome: string): Promise<number> =>
      (await metrics.runQueries.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0;

    it('waits 250 ms once for a run, with all who ask for it, and not again soon', async () => {
      // The first call loads the client's code; how long a timer takes is the machine's.
      await ask('warm-up');
      const startedAt = performance.now();
      const timer = pause(250).then(() => performance.now() - startedAt);
      const [firstMs, timerMs] = await Promise.all([ask('a', 'a', 'a'), timer]);
      assert.ok(firstMs > 200 && firstMs < timerMs + 150, `${firstMs} ms, a timer ${timerMs} ms`);
      assert.ok((await ask('a')) < 200);
      assert.equal(await count('timed_out'), 2);
    });

    it('waits for no run at all once three have been silent', async () => {
      await ask('a', 'b', 'c');
      const laterMs = await ask('d', 'e', 'f');
      assert.ok(laterMs < 200, `${laterMs} ms`);
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

  describe('merged with what is stored', () => {
    const node = (id: string, status: PolledNode['status'], more: Partial<PolledNode> = {}): PolledNode => ({
      id,
      status,
      result: status === 'succeed' ? '{"content":"x"}' : null,
      errorCode: null,
      errorMessage: null,
      ...more,
    });
    const open = { requests: '[]', until: '2026-01-01T00:00:00.000Z' };
    const waiting = { for: 'approval' as const, untilMs: Date.parse('2026-01-01T00:00:00.500Z') };

    it('adds what is not stored, and a node that is stored as ended stays ended', () => {
      const stored = [node('ended', 'succeed'), node('failed', 'failed'), node('open', 'in progress')];
      const live = ['ended', 'failed', 'open', 'new'].map((id) => ({ id, path: '' }));
      assert.deepEqual(mergeLive(stored, live), [...stored, node('new', 'in progress')]);
    });

    it('leaves out nodes of iterations', () => {
      assert.deepEqual(mergeLive([], [{ id: 'inner', path: 'LOOP[3]' }]), []);
    });

    it('says until when an agent waits as long as it has open requests, and no longer', () => {
      const stored = [node('asks', 'in progress', { approvals: open }), node('decided', 'in progress')];
      const live = ['asks', 'decided'].map((id) => ({ id, path: '', waiting }));
      const until = '2026-01-01T00:00:00.500Z';
      assert.deepEqual(mergeLive(stored, live), [{ ...stored[0]!, approvals: { ...open, until } }, stored[1]]);
    });
  });
});
