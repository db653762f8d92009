import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ActivityCancellationDetails, CancelledFailure, type ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { sql } from 'kysely';
import type { NodeFailure } from '../../../activities/node/failures.js';
import { admitHeld, Isolation, toTreatment } from '../../../activities/node/isolation.js';
import { createLogger } from '../../../telemetry/logger.js';
import type { Database } from '../../../db/core/client.js';
import { recordEndedAttempt, listStoredAttempts, readDeaths } from '../../../db/nodes/node-attempts-repository.js';
import {
  startIsolated,
  claimNode,
  recordNodeEnd,
  uncountNodeAttempt,
  type NodeClaim,
} from '../../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../../graph/plan.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const NODES = 60;

describe('nodes whose workers die', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect(8);
  });
  after(() => db.destroy());

  const open = (count: number): Promise<OpenRun> =>
    openRun(
      db,
      Array.from({ length: count }, () => 'http' as const),
    );
  const keysOf = (run: OpenRun): NodeKey[] => run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId }));
  const claim = async (key: NodeKey, worker: string, step?: string): Promise<NodeClaim> =>
    (await claimNode(db, key, { worker, ...(step !== undefined && { step }) }))!;
  const claimAll = (keys: NodeKey[], worker: string) => Promise.all(keys.map((key) => claim(key, worker)));
  const sharesOf = async (key: NodeKey): Promise<[number, number]> => {
    const { count, shares } = await readDeaths(db, key, null);
    return [count, Math.round(shares * 1e6) / 1e6];
  };
  const keep = (key: NodeKey, number: number, code: string) =>
    recordEndedAttempt(db, { ...key, number, code, message: code, tookMs: 5 });

  it('a death counts one, divided by the nodes that were in flight on the worker', async () => {
    const run = await open(4);
    const keys = keysOf(run);
    const [first, second] = [randomUUID(), randomUUID()];
    await claimAll(keys, first);
    // One node has ended before its worker dies.
    await recordNodeEnd(db, nodeEnd(run, keys[0]!.nodeId, 'http'));
    const lost = keys.slice(1);
    await claimAll(lost, second);
    for (const key of lost) assert.deepEqual(await sharesOf(key), [1, 0.333333]);
    assert.deepEqual(
      (await claimAll(lost, second)).map(({ isHeld, spared }) => [isHeld, spared]),
      [
        [false, 1],
        [false, 1],
        [false, 1],
      ],
    );
    for (const key of lost) assert.deepEqual(await sharesOf(key), [1, 0.333333], 'the same worker lives');
  });

  it('an attempt that its worker has handed back, or that has ended with an error, is no death', async () => {
    const [key] = keysOf(await open(1));
    await claim(key!, randomUUID());
    await keep(key!, 1, 'worker_shutdown');
    assert.equal((await claim(key!, randomUUID())).spared, 1, 'a stop of the worker is no attempt of the node');
    await keep(key!, 2, 'http_status');
    assert.equal((await claim(key!, randomUUID())).spared, 1);
    assert.deepEqual(await sharesOf(key!), [0, 0]);
  });

  it('a worker that stood still and says so later has not died', async () => {
    const [key, other] = keysOf(await open(2));
    const [frozen, next] = [randomUUID(), randomUUID()];
    await claimAll([key!, other!], frozen);
    await claimAll([key!, other!], next);
    assert.deepEqual(await sharesOf(key!), [1, 0.5]);
    await keep(key!, 1, 'worker_lost');
    assert.deepEqual(await sharesOf(key!), [0, 0]);
    assert.deepEqual(await sharesOf(other!), [1, 1]);
  });

  it('what an attempt has taken back is no attempt, whichever worker comes next', async () => {
    const [key] = keysOf(await open(1));
    await claim(key!, randomUUID());
    await uncountNodeAttempt(db, key!, 1);
    assert.equal((await claim(key!, randomUUID())).attempts, 1);
    assert.deepEqual(await listStoredAttempts(db, key!, 10), []);
  });

  it('a node is held from its second death on, and its wait is no attempt', async () => {
    const [key] = keysOf(await open(1));
    await claim(key!, randomUUID());
    assert.equal((await claim(key!, randomUUID())).isHeld, false);
    const worker = randomUUID();
    const held = await claim(key!, worker);
    assert.deepEqual([held.isHeld, held.attempts, held.spared], [true, 3, 2]);
    for (const next of [randomUUID(), randomUUID()]) {
      assert.deepEqual(await claim(key!, next), held, 'a worker that dies while the node waits is no death of it');
    }
    assert.equal(await startIsolated(db, key!, { attempts: 3, worker }), true);
    assert.equal(await startIsolated(db, key!, { attempts: 3, worker }), false, 'it begins once');
    const again = await claim(key!, randomUUID());
    assert.deepEqual([again.isHeld, again.attempts, again.spared], [true, 4, 3]);
    assert.deepEqual(await sharesOf(key!), [3, 3]);
  });

  it('counts for a node in isolation only those that ran isolated, and for other nodes all of them', async () => {
    const keys = keysOf(await open(6));
    const apart = keys.slice(0, 2);
    await claimAll(apart, randomUUID());
    await claimAll(apart, randomUUID());
    const worker = randomUUID();
    const held = await claimAll(apart, worker);
    for (const [at, key] of apart.entries()) await startIsolated(db, key, { attempts: held[at]!.attempts, worker });
    await claimAll(keys.slice(2), worker);
    await claimAll(keys, randomUUID());
    assert.deepEqual(await sharesOf(apart[0]!), [3, 1.5]);
    assert.deepEqual(await sharesOf(keys[5]!), [1, 0.166667]);
  });

  it('counts the deaths of each step of an agent by themselves', async () => {
    const [key] = keysOf(await open(1));
    for (const step of ['0', '0', '0']) await claim(key!, randomUUID(), step);
    assert.equal((await readDeaths(db, key!, '0')).count, 2);
    const next = await claim(key!, randomUUID(), '1');
    assert.deepEqual([next.isHeld, (await readDeaths(db, key!, '1')).count], [false, 0]);
  });

  describe('that are held', () => {
    const logger = createLogger('worker', 'silent');
    const workerId = randomUUID();

    /** A node with `deaths` deaths in isolation, and the claim that finds the last one. */
    async function held(deaths: number): Promise<{ key: NodeKey; claim: NodeClaim }> {
      const [key] = keysOf(await open(1));
      let claimed = await claim(key!, randomUUID());
      for (let death = 0; death < deaths; death += 1) {
        if (claimed.isHeld) await startIsolated(db, key!, { attempts: claimed.attempts, worker: randomUUID() });
        claimed = await claim(key!, randomUUID());
      }
      return { key: key!, claim: claimed };
    }
    async function execute(
      { key, claim: found }: Awaited<ReturnType<typeof held>>,
      isolation: Isolation,
      at: { env?: MockActivityEnvironment; walkFailed?: AbortSignal } = {},
    ): Promise<string> {
      const { env = new MockActivityEnvironment(), walkFailed } = at;
      const deps = { db, isolation, logger, workerId };
      const admit = () => admitHeld(deps, key, { claim: found, step: undefined, walkFailed });
      const { error, release } = (await env.run(admit)) as Awaited<ReturnType<typeof admitHeld>>;
      release();
      if (error !== undefined) throw error;
      return 'executed';
    }
    const code = (error: unknown) => (error as ApplicationFailure).type ?? (error as NodeFailure).code;
    const full = async (): Promise<Isolation> => {
      const isolation = new Isolation();
      await isolation.acquire(true, 0, new AbortController().signal);
      return isolation;
    };

    it('begin when it is their turn, and make room for others when they end', async () => {
      const isolation = new Isolation();
      for (let turn = 0; turn < 5; turn += 1) assert.equal(await execute(await held(2), isolation), 'executed');
    });

    it('go back to the queue when it is not their turn, and count no attempt', async () => {
      const node = await held(2);
      await assert.rejects(execute(node, await full()), (error) => code(error) === 'handed_back');
      assert.deepEqual(await claim(node.key, randomUUID()), node.claim);
    });

    it('are cancelled while they wait', async () => {
      const [byRun, byNeighbour] = [await held(2), await held(2)];
      const env = new MockActivityEnvironment();
      const cancelled = execute(byRun, await full(), { env });
      env.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested: true }));
      await assert.rejects(cancelled, (error) => error instanceof CancelledFailure);
      const walkFailed = AbortSignal.abort(new CancelledFailure('another node has failed'));
      const stopped = execute(byNeighbour, await full(), { walkFailed });
      await assert.rejects(stopped, (error) => error instanceof CancelledFailure);
    });

    it('are given up at three shares, when the other nodes of the worker have had the time to be claimed', async () => {
      const node = await held(3);
      await assert.rejects(execute(node, new Isolation()), (error) => code(error) === 'handed_back');
      await sql`UPDATE node_attempts SET finished_at = finished_at - interval '1 minute'
        WHERE run_id = ${node.key.runId}`.execute(db);
      await assert.rejects(execute(node, new Isolation()), (error) => code(error) === 'worker_lost');
    });

    it('begin in one process only', async () => {
      const node = await held(2);
      await startIsolated(db, node.key, { attempts: node.claim.attempts, worker: randomUUID() });
      await assert.rejects(execute(node, new Isolation()), (error) => code(error) === 'handed_back');
    });
  });

  /** Workers execute the open nodes one after the other, and each dies with the node that kills workers. */
  async function drill(killer: NodeKey | undefined, keys: NodeKey[], most: number) {
    const left = new Set(keys);
    const givenUp: NodeKey[] = [];
    let deaths = 0;
    while (left.size > 0 && deaths < most) {
      const [worker, isolation] = [randomUUID(), new Isolation()];
      for (let hasDied = false; !hasDied && left.size > 0;) {
        // The killing node comes first, so that others run beside it as often as possible.
        const order = [...left].toSorted((a, b) => Number(b === killer) - Number(a === killer));
        const running: NodeKey[] = [];
        for (const [at, { attempts, isHeld }] of (await claimAll(order, worker)).entries()) {
          const key = order[at]!;
          const treatment = isHeld ? toTreatment(await readDeaths(db, key, null)) : undefined;
          if (treatment === 'given up') {
            left.delete(key);
            givenUp.push(key);
            continue;
          }
          if (treatment === undefined) running.push(key);
          else if (await isolation.acquire(treatment === 'alone', 0, new AbortController().signal)) {
            assert.ok(await startIsolated(db, key, { attempts, worker }));
            running.push(key);
          }
        }
        hasDied = killer === undefined || running.includes(killer);
        if (hasDied) deaths += 1;
        else {
          for (const key of running) {
            left.delete(key);
            isolation.release();
          }
        }
      }
    }
    return { deaths, givenUp, left };
  }

  it('five deaths with 60 nodes in flight fail nobody', async () => {
    const keys = keysOf(await open(NODES));
    const { givenUp } = await drill(undefined, keys, 5);
    assert.deepEqual(givenUp, []);
    await claimAll(keys, randomUUID());
    const shares = await Promise.all(keys.map(async (key) => (await sharesOf(key))[1]));
    assert.ok(Math.max(...shares) < 3, `${Math.max(...shares)}`);
    assert.ok(Math.min(...shares) > 0.03 && Math.min(...shares) < 0.04, 'two shares of a sixtieth');
  });

  it('one of 60 that kills its worker is given up after at most 14 deaths, and no other with it', async () => {
    const keys = keysOf(await open(NODES));
    const { deaths, givenUp, left } = await drill(keys[17], keys, 20);
    assert.deepEqual(givenUp, [keys[17]]);
    assert.ok(deaths <= 14, `${deaths} deaths`);
    assert.equal(left.size, 0);
  });

  it('one of two that kills its worker is given up, and the other is not', async () => {
    const keys = keysOf(await open(2));
    const { givenUp } = await drill(keys[0], keys, 20);
    assert.deepEqual(givenUp, [keys[0]]);
  });
});
