import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { recordPaidEnd } from '../../../db/agents/agent-charges.js';
import type { Database } from '../../../db/core/client.js';
import { claimNode } from '../../../db/nodes/node-results-repository.js';
import { deleteLeftDeltas } from '../../../db/retention/retention-repository.js';
import { readDeltas, writeDeltas, type RunDelta } from '../../../db/runs/run-deltas-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { watchRuns } from '../../../db/watches/run-watches-repository.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

describe('the deltas of a run in the database', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => (db = await connect()));
  after(() => db.destroy());

  async function begin(deltas = true): Promise<OpenRun> {
    const run = await openRun(db, ['llm']);
    await claimNode(db, keyOf(run));
    await watchRuns(db, randomUUID(), [{ runId: run.id, deltas, endsOnly: false }]);
    return run;
  }

  const keyOf = (run: OpenRun) => ({ runId: run.id, path: '', nodeId: run.nodeIds[0]! });
  const deltaOf = (run: OpenRun, number: number, text: string, attempt = 1): RunDelta => {
    return { ...keyOf(run), attempt, step: 0, number, body: { text } };
  };
  const write = (run: OpenRun, ...deltas: RunDelta[]): Promise<Set<string>> => writeDeltas(db, [run.id], deltas);
  const textsOf = async (run: OpenRun): Promise<(string | undefined)[]> =>
    (await readDeltas(db, [run.id], [])).map(({ body }) => body.text);

  it('are stored where somebody reads them, once', async () => {
    const [read, unread] = [await begin(), await begin(false)];
    assert.deepEqual([...(await write(read, deltaOf(read, 0, 'a')))], [read.id]);
    await write(read, deltaOf(read, 0, 'a'), deltaOf(read, 1, 'b'));
    assert.deepEqual([...(await write(unread, deltaOf(unread, 0, 'a')))], []);
    assert.deepEqual([await textsOf(read), await textsOf(unread)], [['a', 'b'], []]);
    const known = [{ ...keyOf(read), attempt: 1, step: 0, number: 0 }];
    assert.deepEqual(
      (await readDeltas(db, [read.id], known)).map(({ number }) => number),
      [1],
    );
  });

  it('are read of several runs at once, of each behind what is known of it', async () => {
    const runs = [await begin(), await begin(), await begin()];
    for (const run of runs) await write(run, deltaOf(run, 0, 'a'), deltaOf(run, 1, 'b'));
    const [first, second, unread] = runs as [OpenRun, OpenRun, OpenRun];
    const known = [first, unread].map((run) => ({ ...keyOf(run), attempt: 1, step: 0, number: 0 }));
    const found = await readDeltas(db, [first.id, second.id], known);
    const numbersOf = ({ id }: OpenRun) => found.filter(({ runId }) => runId === id).map(({ number }) => number);
    assert.deepEqual(runs.map(numbersOf), [[1], [0, 1], []]);
  });

  it('are not stored of an attempt that another one follows, or behind the end of their node', async () => {
    const run = await begin();
    await claimNode(db, keyOf(run));
    await write(run, deltaOf(run, 0, 'of the first', 1));
    await write(run, deltaOf(run, 0, 'of the second', 2));
    assert.deepEqual(await textsOf(run), ['of the second']);
    await recordPaidEnd(db, nodeEnd(run, run.nodeIds[0]!, 'llm'));
    assert.deepEqual(await textsOf(run), []);
    await write(run, deltaOf(run, 1, 'late', 2));
    assert.deepEqual(await textsOf(run), []);
  });

  it('go with the end of their run, and what a crash leaves is swept', async () => {
    const [ended, left] = [await begin(), await begin()];
    for (const run of [ended, left]) await write(run, deltaOf(run, 0, 'a'));
    await endRun(db, ended.id, { status: 'cancelled' });
    assert.deepEqual(await textsOf(ended), []);
    const age = (run: OpenRun) =>
      sql`UPDATE run_deltas SET created_at = now() - interval '2 minutes' WHERE run_id = ${run.id}`.execute(db);
    await age(left);
    await deleteLeftDeltas(db, 100);
    assert.deepEqual(await textsOf(left), ['a'], 'its node is in progress');
    await sql`UPDATE node_results SET status = 'failed', error_code = 'x' WHERE run_id = ${left.id}`.execute(db);
    assert.deepEqual(await textsOf(left), [], 'its node has ended');
    await deleteLeftDeltas(db, 100);
    assert.deepEqual(await textsOf(left), []);
  });
});
