import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { createSharedWrites, type SharedWrites } from '../../../activities/node/shared-writes.js';
import type { Database } from '../../../db/core/client.js';
import {
  recordIteration,
  recordIterationFailure,
  startIterations,
  type EndedIteration,
} from '../../../db/nodes/iterations-repository.js';
import {
  claimNode,
  recordNodeEnd,
  type ClaimedWork,
  type NodeClaim,
  type NodeEndRow,
} from '../../../db/nodes/node-results-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import type { NodeKey } from '../../../graph/plan.js';
import { CHANGES_CHANNEL } from '../../../db/watches/notify-watchers.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const WORK = { step: null, queuedMs: 12, worker: randomUUID() };

describe('nodes that are claimed and end at the same moment', function () {
  this.timeout(60_000);
  let db: Database;
  let writes: SharedWrites;

  before(async () => {
    db = await connect(8);
    writes = createSharedWrites(db);
  });
  after(() => db.destroy());

  const open = (count: number): Promise<OpenRun> =>
    openRun(
      db,
      Array.from({ length: count }, () => 'http' as const),
    );
  const keysOf = (run: OpenRun): NodeKey[] => run.nodeIds.map((nodeId) => ({ runId: run.id, path: '', nodeId }));

  /** What the database knows of the nodes of a run, in their order, without ids and times. */
  async function rowsOf(run: OpenRun): Promise<unknown[]> {
    const { rows } = await sql<{ node_id: string }>`
      SELECT node.node_id, node.status, handle, also_handles, result::text, result_bytes, result_enc, error_code,
        error_message, is_handled, attempts, step, queued_ms, worker, finished_at IS NULL AS is_open,
        extract(epoch FROM finished_at - node.started_at) >= 5 AS is_dated_back, paid.operation, paid.status AS paid,
        paid.amount_usd, paid.is_estimated, paid.price_version, paid.reason, paid.description, paid.user_id IS NULL AS is_nobodys
      FROM node_results AS node LEFT JOIN billing_transactions AS paid USING (run_id, path, node_id)
      WHERE run_id = ${run.id} ORDER BY path`.execute(db);
    return run.nodeIds.map((id) =>
      rows.filter((row) => row.node_id === id).map((row) => ({ ...row, node_id: undefined })),
    );
  }

  it('get the same claims as alone', async () => {
    /** Prepares one run for each case, and returns the claims to ask for. */
    async function cases(): Promise<[OpenRun, { key: NodeKey; work: ClaimedWork }[]]> {
      const [run, closed] = [await open(6), await open(1)];
      const [fresh, repeated, next, ended, failed, held] = keysOf(run) as [NodeKey, NodeKey, NodeKey, ...NodeKey[]];
      for (const key of [repeated, next]) await claimNode(db, key, WORK);
      await recordNodeEnd(db, nodeEnd(run, ended!.nodeId, 'http', { handle: 2, alsoHandles: [1, 3] }));
      await recordNodeEnd(
        db,
        nodeEnd(run, failed!.nodeId, 'http', { status: 'failed', errorCode: 'timeout', result: null }),
      );
      await claimNode(db, held!, WORK);
      await sql`UPDATE node_results SET isolation = 'waits' WHERE run_id = ${run.id} AND node_id = ${held!.nodeId}`.execute(
        db,
      );
      await endRun(db, closed.id, { status: 'succeed' });
      const unknown = { runId: randomUUID(), path: '', nodeId: randomUUID() };
      return [
        run,
        [
          { key: fresh, work: WORK },
          { key: repeated, work: WORK },
          { key: next, work: { ...WORK, step: '1' } },
          ...[ended!, failed!, held!, keysOf(closed)[0]!, unknown].map((key) => ({ key, work: WORK })),
          { key: { ...fresh, path: 'LOOP[3]' }, work: {} },
        ],
      ];
    }
    const [apart, askedApart] = await cases();
    const [together, askedTogether] = await cases();
    const alone: (NodeClaim | undefined)[] = [];
    for (const { key, work } of askedApart) alone.push(await claimNode(db, key, work));
    const grouped = await Promise.all(askedTogether.map(({ key, work }) => writes.claim(key, work)));
    const factsOf = (claim: NodeClaim | undefined): unknown =>
      claim && [
        claim.status,
        claim.handle,
        claim.alsoHandles,
        claim.errorCode,
        claim.attempts,
        claim.spared,
        claim.isHeld,
      ];
    assert.deepEqual(grouped.map(factsOf), alone.map(factsOf));
    const statuses = 'in progress,in progress,in progress,succeed,failed,in progress,,,in progress';
    assert.equal(grouped.map((claim) => claim?.status).join(','), statuses);
    assert.deepEqual(await rowsOf(together), await rowsOf(apart));
  });

  it('have the same ends as alone', async () => {
    const ENDS: Partial<NodeEndRow>[] = [
      {},
      { tookMs: 5_000.5, handle: 2, alsoHandles: [1, 3], result: '{"content":"\\"ä€😀\\\\u0000"}', reason: 'why' },
      {
        status: 'failed',
        result: null,
        errorCode: 'timeout',
        errorMessage: 'It said: "no".\n',
        isHandled: true,
        reason: 'timeout',
      },
      { amountUsd: '0.25', priceVersion: '1' },
      { resultEnc: Buffer.from('sealed') },
      { result: JSON.stringify({ content: 'x'.repeat(20_000) }) },
    ];
    async function prepared(): Promise<[OpenRun, NodeEndRow[]]> {
      const [run, closed] = [await open(ENDS.length + 1), await open(1)];
      const ends = ENDS.map((end, index) => nodeEnd(run, run.nodeIds[index]!, 'http', end));
      const again = nodeEnd(run, run.nodeIds.at(-1)!, 'http');
      await recordNodeEnd(db, again);
      await claimNode(db, keysOf(run)[0]!, WORK);
      await endRun(db, closed.id, { status: 'succeed' });
      return [run, [...ends, { ...again, handle: 7 }, nodeEnd(closed, closed.nodeIds[0]!, 'http')]];
    }
    const [apart, endsApart] = await prepared();
    const [together, endsTogether] = await prepared();
    const alone: boolean[] = [];
    for (const end of endsApart) alone.push(await recordNodeEnd(db, end));
    const grouped = await Promise.all(endsTogether.map((end) => writes.recordEnd(end)));
    assert.deepEqual(grouped, alone);
    assert.deepEqual(grouped, [...ENDS.map(() => true), false, false]);
    assert.deepEqual(await rowsOf(together), await rowsOf(apart));
  });

  it('have the same iterations as alone, and count the same progress', async () => {
    const loopOf = (run: OpenRun): NodeKey => keysOf(run)[0]!;
    const progressOf = async ({ id }: OpenRun): Promise<unknown[]> => {
      const { rows } = await sql<Record<string, unknown>>`
        SELECT loop.started::text, loop.ended::text, loop.failed, loop.changes, (run_changes(${id})).changes AS of_run
        FROM loops_at(${id}, '') AS loop`.execute(db);
      return rows;
    };
    const iterationsOf = async ({ id }: OpenRun): Promise<unknown[]> => {
      const { rows } = await sql<Record<string, unknown>>`
        SELECT substring(path FROM '\\[.*') AS path, status, result::text, result_bytes, result_enc, error_code
        FROM node_results WHERE run_id = ${id} AND is_iteration ORDER BY path`.execute(db);
      return rows;
    };
    async function prepared(): Promise<[OpenRun, EndedIteration[]]> {
      const [run, closed] = [await open(1), await open(1)];
      const loop = loopOf(run);
      await claimNode(db, loop, WORK);
      await startIterations(db, loop, { total: 20, indexes: [0, 1, 2, 3, 14, 15] });
      await recordIterationFailure(db, loop, { index: 1, failure: { code: 'timeout', message: 'late' } });
      await endRun(db, closed.id, { status: 'succeed' });
      const end = (index: number, more: Partial<EndedIteration> = {}): EndedIteration => {
        return { loop, index, result: `{"content":"ä \\u0000 ${index}"}`, resultEnc: null, next: undefined, ...more };
      };
      const own = [end(0, { next: 4 }), end(1, { next: 5 }), end(2, { resultEnc: Buffer.from('x') }), end(14), end(15)];
      return [run, [...own, end(3, { result: '{' }), { ...end(0), loop: loopOf(closed) }]];
    }
    const [apart, endsApart] = await prepared();
    const [together, endsTogether] = await prepared();
    const valueOf = (outcome: PromiseSettledResult<unknown>): unknown =>
      outcome.status === 'rejected' ? 'rejected' : outcome.value;
    const alone: unknown[] = [];
    for (const end of endsApart) alone.push(...(await Promise.allSettled([recordIteration(db, end)])).map(valueOf));
    const grouped = await Promise.allSettled(endsTogether.map((end) => writes.recordIteration(end)));
    assert.deepEqual(grouped.map(valueOf), alone);
    assert.deepEqual(alone, [undefined, 'timeout', undefined, undefined, undefined, 'rejected', undefined]);
    assert.deepEqual(await iterationsOf(together), await iterationsOf(apart));
    assert.deepEqual(await progressOf(together), await progressOf(apart));
    const again = await Promise.all([0, 14].map((at) => writes.recordIteration({ ...endsTogether[0]!, index: at })));
    assert.deepEqual(again, [undefined, undefined]);
  });

  it('do not wait for a run whose end is under way', async () => {
    const [ending, other] = [await open(2), await open(2)];
    const [endingKeys, otherKeys] = [keysOf(ending), keysOf(other)];
    for (const key of [endingKeys[1]!, otherKeys[1]!]) await claimNode(db, key, WORK);
    const waiting: Promise<unknown>[] = [];
    await db.transaction().execute(async (trx) => {
      await sql`SELECT FROM runs WHERE id = ${ending.id} FOR UPDATE`.execute(trx);
      waiting.push(
        writes.claim(endingKeys[0]!, WORK),
        writes.recordEnd(nodeEnd(ending, endingKeys[1]!.nodeId, 'http')),
      );
      // The first claim and end share the statement of the locked run, the later ones come after it.
      for (const key of [otherKeys[0]!, { ...otherKeys[0]!, path: 'LOOP[0]' }]) {
        assert.equal((await writes.claim(key, WORK))!.status, 'in progress');
      }
      assert.equal(await writes.recordEnd(nodeEnd(other, otherKeys[1]!.nodeId, 'http')), true);
      await endRun(trx, ending.id, { status: 'failed', error: { code: 'x', message: 'x' } });
    });
    assert.deepEqual(await Promise.all(waiting), [undefined, false]);
  });

  it('share a statement with ends that cannot be stored, and with each other', async () => {
    const run = await open(4);
    const ends = run.nodeIds.map((id) => nodeEnd(run, id, 'http'));
    ends[1] = { ...ends[1]!, status: 'failed', result: null, errorMessage: 'a \0 in it', errorCode: 'x' };
    const outcomes = await Promise.allSettled([...ends, ends[0]!, ends[0]!].map((end) => writes.recordEnd(end)));
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'rejected' ? 'rejected' : outcome.value)).slice(1, 4),
      ['rejected', true, true],
    );
    const ofTheFirst = [outcomes[0]!, ...outcomes.slice(4)].map(
      (outcome) => outcome.status === 'fulfilled' && outcome.value,
    );
    assert.equal(ofTheFirst.filter(Boolean).length, 1);
    const claims = await Promise.all([1, 2, 3].map(() => writes.claim({ ...keysOf(run)[0]!, path: 'LOOP[1]' }, WORK)));
    assert.deepEqual(new Set(claims.map((claim) => claim!.attempts)), new Set([1, 2, 3]));
  });

  it('notify those who watch their runs', async () => {
    const [watched, unwatched] = [await open(2), await open(2)];
    await sql`
      INSERT INTO run_watches (run_id, listener, until)
      VALUES (${watched.id}, ${randomUUID()}, now() + interval '1 hour')`.execute(db);
    const notified: string[] = [];
    const listener = new pg.Client({ connectionString: (await sharedStack()).stack.database_url });
    listener.on('notification', ({ payload }) => notified.push(payload!));
    const ours = (): string[] => notified.filter((id) => [watched.id, unwatched.id].includes(id));
    try {
      await listener.connect();
      await listener.query(`LISTEN ${CHANGES_CHANNEL}`);
      const runs = [unwatched, watched];
      await Promise.all(runs.flatMap(keysOf).map((key) => writes.claim(key, WORK)));
      await eventually(() => ours().length > 0);
      const claimed = ours().length;
      const ends = runs.flatMap((run) => run.nodeIds.map((id) => nodeEnd(run, id, 'http')));
      await Promise.all(ends.map((end) => writes.recordEnd(end)));
      await eventually(() => ours().length > claimed);
      assert.deepEqual([...new Set(ours())], [watched.id]);
    } finally {
      await listener.end();
    }
  });
});
