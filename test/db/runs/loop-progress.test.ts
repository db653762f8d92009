import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import {
  startIterations,
  closeIterations,
  recordIteration,
  recordIterationFailure,
} from '../../../db/nodes/iterations-repository.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { readRunForPoll } from '../../../db/runs/poll-repository.js';
import { orderRunEvents, readRunEvents, type RunEvent } from '../../../db/runs/run-events-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { readRunStates } from '../../../db/watches/run-watches-repository.js';
import { VERSION_STEP } from '../../../db/watches/run-version.js';
import { iterationPath } from '../../../graph/iteration-path.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

describe('the progress of loops', function () {
  this.timeout(120_000);
  let db: Database;
  let run: OpenRun;
  /** The outer loop, the loop in its body, and the node in the body of that. */
  let ids: [outer: string, inner: string, leaf: string];

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  beforeEach(async () => {
    run = await openRun(db, ['for_each', 'for_each', 'http']);
    ids = run.nodeIds as typeof ids;
    await db
      .insertInto('project_members')
      .values({ project_id: run.projectId, user_id: run.userId, role: 'owner' })
      .execute();
  });

  const outerLoop = () => ({ runId: run.id, path: '', nodeId: ids[0] });
  const inOuter = (index: number): string => iterationPath('', ids[0], index);
  const innerLoop = (index: number) => ({ runId: run.id, path: inOuter(index), nodeId: ids[1] });
  const inInner = (outer: number, index: number): string => iterationPath(inOuter(outer), ids[1], index);

  const claim = (path: string, nodeId: string) => claimNode(db, { runId: run.id, path, nodeId });
  const record = (path: string, nodeId: string) => recordNodeEnd(db, nodeEnd(run, nodeId, 'http', { path }));
  const ended = (index: number, next?: number) => ({ index, result: '{"content":""}', resultEnc: null, next });
  const failure = { code: 'x', message: 'It failed.' };

  const versionOf = async (): Promise<number> => (await readRunStates(db, [run.id]))[0]!.version;

  /** Computes the version of the run by counting all of its rows. */
  async function countRows(): Promise<number> {
    const { rows } = await sql<{ changes: number }>`
      SELECT count(*) + count(*) FILTER (WHERE status <> 'in progress') AS changes FROM node_results
      WHERE run_id = ${run.id}`.execute(db);
    const { status } = await db.selectFrom('runs').select('status').where('id', '=', run.id).executeTakeFirstOrThrow();
    return VERSION_STEP * (2 + (status === 'In Progress' ? 0 : 1) + rows[0]!.changes);
  }

  const progress = async (): Promise<unknown[]> => {
    const { rows } = await sql`
      SELECT path, node_id, prefix, range_agg(started) AS started, range_agg(ended) AS ended, sum(failed) AS failed,
        sum(changes)::bigint AS changes
      FROM loop_progress WHERE run_id = ${run.id} GROUP BY path, node_id, prefix ORDER BY path, node_id`.execute(db);
    return rows;
  };

  /** Two iterations of the outer loop at once, with three of the inner one each, and a failure on either level. */
  const steps: (() => Promise<unknown>)[] = [
    () => claim('', ids[0]),
    () => startIterations(db, outerLoop(), { total: 4, indexes: [0, 1] }),
    () => claim(inOuter(0), ids[1]),
    () => claim(inOuter(1), ids[1]),
    () => startIterations(db, innerLoop(0), { total: 3, indexes: [0] }),
    () => claim(inInner(0, 0), ids[2]),
    () => record(inInner(0, 0), ids[2]),
    () => recordIteration(db, { loop: innerLoop(0), ...ended(0, 1) }),
    () => record(inInner(0, 1), ids[2]),
    () => recordIterationFailure(db, innerLoop(0), { index: 1, failure, next: 2 }),
    () => recordIteration(db, { loop: innerLoop(0), ...ended(2) }),
    () => record(inOuter(0), ids[1]),
    () => recordIteration(db, { loop: outerLoop(), ...ended(0, 2) }),
    () => recordIteration(db, { loop: outerLoop(), ...ended(0, 2) }),
    () => startIterations(db, innerLoop(1), { total: 3, indexes: [0, 1] }),
    () => claim(inInner(1, 0), ids[2]),
    () => recordIteration(db, { loop: innerLoop(1), ...ended(1, 2) }),
    () => claim(inInner(1, 2), ids[2]),
    // The failure closes all open rows in the iteration, and the loops around them count these as ended.
    () => recordIterationFailure(db, outerLoop(), { index: 1, failure, next: 3 }),
    () => claim(inOuter(2), ids[1]),
    () => startIterations(db, innerLoop(2), { total: 2, indexes: [0, 1] }),
    () => claim(inInner(2, 1), ids[2]),
    () => closeIterations(db, outerLoop()),
    () => record('', ids[0]),
    () => endRun(db, run.id, { status: 'failed' }),
  ];

  it('gives the run the version that all of its rows give it, at every step', async () => {
    for (const [index, step] of steps.entries()) {
      await step();
      assert.equal(await versionOf(), await countRows(), `after step ${index}`);
    }
  });

  it('is what it would be if it were counted over the rows, as a migration and a resumed run count it', async () => {
    for (const [index, step] of steps.entries()) {
      await step();
      if (index % 4 !== 0 && index !== steps.length - 1) continue;
      const kept = await progress();
      await db.deleteFrom('loop_progress').where('run_id', '=', run.id).execute();
      await sql`SELECT restore_loop_progress(${run.id})`.execute(db);
      assert.deepEqual(await progress(), kept, `after step ${index}`);
    }
  });

  it('is shown as the counts of a loop', async () => {
    const shown = [];
    for (const step of steps.slice(0, 13)) {
      await step();
      shown.push((await readRunForPoll(db, { runId: run.id, userId: run.userId }, 30))!.nodes[0]?.iterations);
    }
    assert.equal(shown[0], null);
    assert.deepEqual(shown[1], { total: 4, succeeded: 0, failed: 0, in_progress: 2 });
    assert.deepEqual(shown[12], { total: 4, succeeded: 1, failed: 0, in_progress: 2 });
    await recordIterationFailure(db, outerLoop(), { index: 1, failure });
    const { nodes } = (await readRunForPoll(db, { runId: run.id, userId: run.userId }, 30))!;
    assert.deepEqual(nodes[0]!.iterations, { total: 4, succeeded: 1, failed: 1, in_progress: 1 });
  });

  describe('for streams', () => {
    const eventsAfter = async (version: number): Promise<RunEvent[]> => {
      await orderRunEvents(db, [run.id]);
      return (await readRunEvents(db, [{ runId: run.id, after: version }], 1_000)).get(run.id)!;
    };
    const wordOf = ({ kind, path, subject, status }: RunEvent): string => [kind, path, subject, status].join(' ');

    it('leaves out no event and tells none twice, however often somebody looks', async () => {
      const everyStep: RunEvent[] = [];
      for (const step of steps) {
        await step();
        const events = await eventsAfter(everyStep.at(-1)?.version ?? 0);
        everyStep.push(...events);
        if (events.length > 0) assert.equal(events.at(-1)!.version, await versionOf());
      }
      const words = everyStep.map(wordOf);
      assert.equal(new Set(words).size, words.length);
      const { rows } = await sql<{ word: string }>`
        SELECT 'node ' || path || ' ' || node_id || ' ' || status AS word FROM node_results
        WHERE run_id = ${run.id}`.execute(db);
      const missing = rows.filter(({ word }) => !words.includes(word));
      assert.deepEqual(missing, []);
      assert.deepEqual(await eventsAfter(everyStep.at(-1)!.version), []);
    });

    it('finds what began in an iteration after its end once the run has ended', async () => {
      for (const step of steps.slice(0, 13)) await step();
      await eventsAfter(0);
      const late = inOuter(0);
      await claim(late, ids[2]);
      await endRun(db, run.id, { status: 'failed' });
      const words = (await eventsAfter(0)).map(wordOf);
      assert.ok(words.includes(`node ${late} ${ids[2]} failed`));
    });
  });

  describe('of a loop with 3,000 iterations', () => {
    const COUNT = 3_000;

    /** The number of rows of tables that a connection reads while it does `work`. */
    async function rowsReadBy(work: (on: Database) => Promise<unknown>): Promise<number> {
      const { stack } = await sharedStack();
      const one = createDatabase({
        url: stack.database_url,
        poolMax: 1,
        applicationName: 'test',
        onError: () => undefined,
      });
      try {
        return await one.transaction().execute(async (trx) => {
          // While the tables are small, the planner prefers a scan, which would read rows of other runs.
          await sql`SET LOCAL enable_seqscan = off`.execute(trx);
          await work(trx);
          const { rows } = await sql<{ count: number }>`
            SELECT sum(seq_tup_read + idx_tup_fetch)::bigint AS count FROM pg_stat_xact_user_tables
            WHERE relname IN ('node_results', 'loop_progress', 'announced_iterations', 'run_events', 'approval_requests',
              'human_tasks', 'waits')`.execute(trx);
          return rows[0]!.count;
        });
      } finally {
        await one.destroy();
      }
    }

    async function loopOf(count: number): Promise<void> {
      await claim('', ids[0]);
      await startIterations(db, outerLoop(), { total: count, indexes: [0] });
      for (let index = 0; index < count; index += 500) {
        const batch = Array.from({ length: Math.min(500, count - index) }, (_, at) => index + at);
        await sql`INSERT INTO node_results (run_id, path, node_id, status, result, result_bytes, finished_at)
          SELECT ${run.id}, path, ${ids[2]}, 'succeed', '{"content":""}', 14, clock_timestamp()
          FROM unnest(${batch.map(inOuter)}::text[]) AS path`.execute(db);
        await db.transaction().execute(async (trx) => {
          for (const at of batch) await recordIteration(trx, { loop: outerLoop(), ...ended(at, at + 1) });
        });
      }
    }

    it('lets polls and looks read as little as that of one with five', async () => {
      const reads: number[][] = [];
      for (const count of [5, COUNT]) {
        run = await openRun(db, ['for_each', 'for_each', 'http']);
        ids = run.nodeIds as typeof ids;
        const member = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
        await db.insertInto('project_members').values(member).execute();
        await loopOf(count);
        await orderRunEvents(db, [run.id]);
        await recordIteration(db, { loop: outerLoop(), ...ended(count, count + 1) });
        const poll = { runId: run.id, userId: run.userId };
        reads.push([
          await rowsReadBy((on) => readRunForPoll(on, poll, 30)),
          await rowsReadBy((on) => readRunStates(on, [run.id])),
          await rowsReadBy((on) => orderRunEvents(on, [run.id])),
        ]);
        await record('', ids[0]);
        await endRun(db, run.id, { status: 'failed' });
        await orderRunEvents(db, [run.id]);
        reads
          .at(-1)!
          .push(
            await rowsReadBy((on) => readRunForPoll(on, poll, 30)),
            await rowsReadBy((on) => orderRunEvents(on, [run.id])),
          );
      }
      const [few, many] = reads as [number[], number[]];
      few.forEach((count, index) =>
        assert.ok(many[index]! <= 2 * count, `${many.join()} rows instead of ${few.join()}`),
      );
    });
  });

  it('of iterations that a run takes over is counted for all of them together', async () => {
    // A trigger that counted each of thousands of iterations separately would be slow.
    const { rows } = await sql<{ definition: string }>`
      SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger WHERE tgname = 'node_results_iteration_started'`.execute(
      db,
    );
    assert.match(rows[0]!.definition, /NOT new\.is_reused/);
    await sql`INSERT INTO node_results (run_id, path, node_id, status, is_iteration, is_reused)
      SELECT ${run.id}, ${`${ids[0]}[`} || index || ']', ${ids[0]}, 'succeed', true, true
      FROM generate_series(0, 9) AS index`.execute(db);
    assert.deepEqual(await progress(), []);
    await sql`SELECT restore_loop_progress(${run.id})`.execute(db);
    const [row] = (await progress()) as { started: string; ended: string; changes: number }[];
    assert.deepEqual([row!.started, row!.ended, row!.changes], ['{[0,10)}', '{[0,10)}', 20]);
  });
});
