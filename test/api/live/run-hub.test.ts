// Tests the readers that wait for runs, with real notifications of the database.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { RunHub } from '../../../api/live/run-hub.js';
import { waitForChange, waitForEnd } from '../../../api/live/wait-for-run.js';
import type { Database } from '../../../db/core/client.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { writeDeltas } from '../../../db/runs/run-deltas-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { CHANGES_CHANNEL } from '../../../db/watches/notify-watchers.js';
import { readRunStates, watchRuns } from '../../../db/watches/run-watches-repository.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { createLogger } from '../../../telemetry/logger.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../../db/open-run.js';
import { sharedStack } from '../../support/shared-stack.js';

describe('a reader that waits for a run', function () {
  this.timeout(60_000);
  let db: Database;
  let listener: pg.Client;
  let hub: RunHub;
  let notified: string[];
  /** True to lose all notifications. */
  let isDeaf: boolean;

  before(async () => {
    db = await connect();
    listener = new pg.Client({ connectionString: (await sharedStack()).stack.database_url });
    await listener.connect();
    listener.on('notification', ({ payload }) => {
      if (isDeaf) return;
      notified.push(payload!);
      hub.changed(payload!);
    });
    await listener.query(`LISTEN ${CHANGES_CHANNEL}`);
  });
  after(() => Promise.all([db.destroy(), listener.end()]));

  beforeEach(() => {
    notified = [];
    isDeaf = false;
    const memory = new ByteBudget({ totalBytes: 2 ** 20, uncountedBytes: 0 });
    hub = new RunHub({ db, memory, logger: createLogger('api', 'fatal'), onReaders: () => undefined });
    hub.listening(true);
  });
  afterEach(() => hub.stop());

  const options = () => ({ waitMs: 30_000, signal: new AbortController().signal });
  const placeOf = ({ id, userId }: OpenRun) => ({ runId: id, userId });
  const keyOf = ({ id, nodeIds }: OpenRun) => ({ runId: id, path: '', nodeId: nodeIds[0]! });
  const tagOf = async ({ id }: OpenRun): Promise<string> => (await readRunStates(db, [id]))[0]!.stateTag;

  async function untilWatched({ id }: OpenRun, endsOnly: boolean): Promise<void> {
    await eventually(async () => {
      const { rows } = await sql<{
        ends: boolean;
      }>`SELECT ends_only AS ends FROM run_watches WHERE run_id = ${id}`.execute(db);
      return rows[0]?.ends === endsOnly;
    });
  }

  /** Sends a notification and resolves when it arrives, so that all earlier ones have arrived too. */
  async function untilAllArrived(): Promise<void> {
    const mark = `mark ${notified.length}`;
    await sql`SELECT pg_notify(${CHANGES_CHANNEL}, ${mark})`.execute(db);
    await eventually(() => notified.includes(mark));
  }

  it('to end is notified of its end only, and not of its nodes', async () => {
    const run = await openRun(db, ['http']);
    let isOver = false;
    const waiting = waitForEnd(hub, placeOf(run), options()).finally(() => (isOver = true));
    await untilWatched(run, true);
    await claimNode(db, keyOf(run));
    await recordNodeEnd(db, nodeEnd(run, run.nodeIds[0]!, 'http'));
    await untilAllArrived();
    assert.deepEqual([notified.includes(run.id), isOver], [false, false]);
    await endRun(db, run.id, { status: 'succeed' });
    assert.equal(await waiting, true);
    assert.ok(notified.includes(run.id));
  });

  it('to end resolves at once if the run has ended already', async () => {
    const run = await openRun(db, ['http']);
    await endRun(db, run.id, { status: 'failed' });
    assert.equal(await waitForEnd(hub, placeOf(run), options()), true);
  });

  it('to end does not miss an end that is committed while its watch begins', async () => {
    const run = await openRun(db, ['http']);
    // The end is committed after the watch and the first read of the run, but its statement started before both.
    const waiting = await db.transaction().execute(async (transaction) => {
      await endRun(transaction, run.id, { status: 'failed' });
      const started = { end: waitForEnd(hub, placeOf(run), options()) };
      await untilWatched(run, true);
      return started;
    });
    assert.equal(await waiting.end, true);
  });

  it('to change is notified of changes, even if the run was watched only for its end before', async () => {
    const run = await openRun(db, ['http']);
    const ending = waitForEnd(hub, placeOf(run), options());
    await untilWatched(run, true);
    const changing = waitForChange(hub, placeOf(run), await tagOf(run), options());
    await untilWatched(run, false);
    await claimNode(db, keyOf(run));
    assert.equal(await changing, true);
    assert.ok(notified.includes(run.id));
    await endRun(db, run.id, { status: 'failed' });
    assert.equal(await ending, true);
  });

  it('gives up when the hub stops', async () => {
    const run = await openRun(db, ['http']);
    const waiting = [
      waitForEnd(hub, placeOf(run), options()),
      waitForChange(hub, placeOf(run), await tagOf(run), options()),
    ];
    await hub.stop();
    assert.deepEqual(await Promise.all(waiting), [false, false]);
  });

  it('resolves without a notification when the hub compares the watched runs with the database', async () => {
    const run = await openRun(db, ['http']);
    isDeaf = true;
    hub.listening(false);
    const waiting = waitForEnd(hub, placeOf(run), options());
    await untilWatched(run, true);
    await endRun(db, run.id, { status: 'failed' });
    assert.equal(await waiting, true);
  });

  it('gets the text of its models without a notification, too', async () => {
    const run = await openRun(db, ['llm']);
    await claimNode(db, keyOf(run));
    // The watch of another process, so that there is text for the first look of the hub.
    await watchRuns(db, randomUUID(), [{ runId: run.id, deltas: true, endsOnly: false }]);
    const write = (number: number, text: string) =>
      writeDeltas(db, [run.id], [{ ...keyOf(run), attempt: 1, step: 0, number, body: { text } }]);
    isDeaf = true;
    hub.listening(false);
    let wasTold = false;
    const following = hub.follow(placeOf(run), () => (wasTold = true), true);
    const textOf = () => following.texts()!.get({ path: '', nodeId: run.nodeIds[0]! })?.steps[0]?.pieces.join('');
    await write(0, 'first');
    await eventually(() => textOf() === 'first');
    wasTold = false;
    await write(1, ' and second');
    await eventually(() => textOf() === 'first and second' && wasTold);
    following.end();
  });
});
