import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { recordEndedAttempt, listStoredAttempts } from '../../../db/nodes/node-attempts-repository.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import type { NodeKey } from '../../../graph/plan.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the attempts of a node', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  const keyOf = (run: OpenRun): NodeKey => ({ runId: run.id, path: '', nodeId: run.nodeIds[0]! });
  const keptOf = async (key: NodeKey): Promise<[number, string][]> =>
    (await listStoredAttempts(db, key, 100)).map(({ number, code }) => [number, code]);
  const refused = (key: NodeKey, number: number, code = 'http_status') =>
    recordEndedAttempt(db, { ...key, number, code, message: `it said ${code}`, tookMs: 20 });

  it('a node that succeeds at once has no row beside its own', async () => {
    const run = await openRun(db, ['http']);
    await claimNode(db, keyOf(run), { queuedMs: 12 });
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'http'));
    assert.deepEqual(await keptOf(keyOf(run)), []);
    const row = await db
      .selectFrom('node_results')
      .select(['attempts', 'attempt_started_at', 'queued_ms'])
      .where('run_id', '=', run.id)
      .executeTakeFirst();
    assert.deepEqual(row, { attempts: 1, attempt_started_at: null, queued_ms: 12 });
  });

  it('an attempt that ended without a word was lost with its worker, and keeps its own times', async () => {
    const key = keyOf(await openRun(db, ['http']));
    await claimNode(db, key, { queuedMs: 5 });
    await pause(120);
    assert.equal((await claimNode(db, key, { queuedMs: 7_000 }))!.attempts, 2);
    await pause(60);
    assert.equal((await claimNode(db, key))!.attempts, 3);
    const [first, second] = await listStoredAttempts(db, key, 100);
    assert.deepEqual(await keptOf(key), [
      [1, 'worker_lost'],
      [2, 'worker_lost'],
    ]);
    assert.ok(first!.finishedAt.getTime() - first!.startedAt.getTime() >= 110);
    assert.ok(second!.startedAt.getTime() >= first!.finishedAt.getTime() - 1);
    const { queued_ms: queuedMs } = await db
      .selectFrom('node_results')
      .select('queued_ms')
      .where('run_id', '=', key.runId)
      .executeTakeFirstOrThrow();
    assert.equal(queuedMs, 5, 'the wait for the first attempt');
  });

  it('an attempt that said how it ended is not lost, whoever is first: it or the next attempt', async () => {
    const key = keyOf(await openRun(db, ['http']));
    await claimNode(db, key);
    await refused(key, 1);
    await claimNode(db, key);
    await claimNode(db, key);
    await refused(key, 2, 'timeout');
    await refused(key, 1, 'another');
    assert.deepEqual(await keptOf(key), [
      [1, 'http_status'],
      [2, 'timeout'],
    ]);
  });

  it('another step of an agent is no other attempt, and a repeated step is', async () => {
    const key = keyOf(await openRun(db, ['agent']));
    for (const step of ['0', '0/tools', '1']) assert.equal((await claimNode(db, key, { step }))!.attempts, 1, step);
    assert.equal((await claimNode(db, key, { step: '1' }))!.attempts, 2);
    assert.equal((await claimNode(db, key, { step: '1/tools' }))!.attempts, 2);
    assert.deepEqual(await keptOf(key), [[1, 'worker_lost']]);
  });

  it('nothing is kept of a node that has settled or is unknown', async () => {
    const run = await openRun(db, ['http']);
    await refused(keyOf(run), 1);
    await claimNode(db, keyOf(run));
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'http'));
    await refused(keyOf(run), 1);
    assert.deepEqual(await keptOf(keyOf(run)), []);
  });

  it('a settled node that is claimed again has had no further attempt', async () => {
    const run = await openRun(db, ['http']);
    await claimNode(db, keyOf(run));
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'http'));
    assert.equal((await claimNode(db, keyOf(run)))!.attempts, 1);
    assert.deepEqual(await keptOf(keyOf(run)), []);
  });

  it('workers that claim a node at the same moment make as many attempts, each kept once', async () => {
    const key = keyOf(await openRun(db, ['http']));
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimNode(db, key)));
    assert.deepEqual(
      claims.map((claim) => claim!.attempts).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6],
    );
    assert.deepEqual(
      (await keptOf(key)).map(([number]) => number),
      [1, 2, 3, 4, 5],
    );
  });

  it('the last of very many are listed', async () => {
    const key = keyOf(await openRun(db, ['agent']));
    await claimNode(db, key);
    await sql`INSERT INTO node_attempts (run_id, node_id, number, started_at, finished_at, error_code)
      SELECT ${key.runId}, ${key.nodeId}, number, now(), now(), 'x' FROM generate_series(1, 30) AS number`.execute(db);
    const kept = await listStoredAttempts(db, key, 10);
    assert.deepEqual([kept.length, kept[0]!.number, kept.at(-1)!.number], [10, 21, 30]);
  });
});
