import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { decideRequest, expireRequests } from '../../../db/agents/approvals-repository.js';
import type { Database } from '../../../db/core/client.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import {
  orderRunEvents,
  readRunEvents,
  type RunEvent,
  type EventNode,
  type EventObject,
} from '../../../db/runs/run-events-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { renewWatches, readRunStates, watchRuns } from '../../../db/watches/run-watches-repository.js';
import { VERSION_STEP } from '../../../db/watches/run-version.js';
import { readRunHead } from '../../../db/runs/poll-repository.js';
import { purgeRuns } from '../../../db/retention/retention-repository.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

const DONE = { status: 'succeed' } as const;

describe('versions and events of a run', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect(8);
  });
  after(() => db.destroy());

  const keyOf = (run: OpenRun, index: number) => ({ runId: run.id, path: '', nodeId: run.nodeIds[index]! });
  const claim = (run: OpenRun, index: number) => claimNode(db, keyOf(run, index));
  const record = (run: OpenRun, index: number, on: Database = db) =>
    recordNodeEnd(on, nodeEnd(run, run.nodeIds[index]!, 'http'));
  const versionOf = async (run: OpenRun): Promise<number> => (await readRunStates(db, [run.id]))[0]!.version;

  async function eventsOf(run: OpenRun, after = 0): Promise<RunEvent[]> {
    await orderRunEvents(db, [run.id]);
    return (await readRunEvents(db, [{ runId: run.id, after }], 1_000)).get(run.id)!;
  }

  /** The number of the subject and the status of each event. */
  function wordsOf(run: OpenRun, events: RunEvent[]): string[] {
    return events.map(({ kind, subject, status }) => {
      const index = run.nodeIds.indexOf(subject);
      return `${kind}${index < 0 ? '' : ` ${index}`} ${status}`;
    });
  }

  async function ask(run: OpenRun, requestId: string, expiresIn = '1 hour', on: Database = db): Promise<void> {
    await sql`INSERT INTO approval_requests
      (request_id, run_id, project_id, path, node_id, turn, ordinal, server_label, tool_name, arguments, expires_at)
      VALUES (${requestId}, ${run.id}, ${run.projectId}, '', ${run.nodeIds[0]!}, 0, ${requestId.length}, 'tools', 'add', '{"a":1}',
        now() + ${expiresIn}::interval)`.execute(on);
  }

  describe('the version', () => {
    it('rises with each start and end of a node, with each approval that is asked for and settled, and with the end', async () => {
      const run = await openRun(db, ['agent', 'http']);
      const versions = [await versionOf(run)];
      const steps: (() => Promise<unknown>)[] = [
        () => claim(run, 0),
        () => ask(run, `${run.id}-a`),
        () =>
          decideRequest(db, {
            runId: run.id,
            requestId: `${run.id}-a`,
            decision: 'approved',
            reason: '',
            userId: run.userId,
            role: 'owner',
          }),
        () => ask(run, `${run.id}-bb`),
        () => expireRequests(db, { ...keyOf(run, 0), turn: 0 }),
        () => record(run, 0),
        () => record(run, 1),
        () => endRun(db, run.id, DONE),
      ];
      for (const step of steps) {
        await step();
        versions.push(await versionOf(run));
      }
      const rises = versions.slice(1).map((version, index) => version - versions[index]!);
      assert.deepEqual(
        rises,
        [1, 1, 1, 1, 1, 1, 2, 1].map((changes) => changes * VERSION_STEP),
      );
    });

    it('stays where nothing changes that a reader sees: a second attempt, a repeated record, a repeated end', async () => {
      const run = await openRun(db, ['http']);
      await claim(run, 0);
      const claimed = await versionOf(run);
      await claim(run, 0);
      assert.equal(await versionOf(run), claimed);
      await record(run, 0);
      await endRun(db, run.id, DONE);
      const ended = await versionOf(run);
      await record(run, 0);
      await endRun(db, run.id, { status: 'succeed' }, 3);
      assert.equal(await versionOf(run), ended);
    });

    it('distinguishes a request whose time is over from one that is open, though nothing is written', async () => {
      const run = await openRun(db, ['agent']);
      // `now()` is the start of the transaction, so the request has not expired yet for the statements in it.
      const [before] = await db.transaction().execute(async (transaction) => {
        await ask(run, `${run.id}-soon`, '50 milliseconds', transaction);
        return readRunStates(transaction, [run.id]);
      });
      const after = await eventually(async () => {
        const [state] = await readRunStates(db, [run.id]);
        return state!.stateTag !== before!.stateTag && state;
      });
      assert.equal(after.version, before!.version);
    });

    it('is the same for polls and for those who wait', async () => {
      const run = await openRun(db, ['http', 'http']);
      await claim(run, 0);
      await record(run, 1);
      const head = await readRunHead(db, { runId: run.id, userId: run.userId }, 30);
      const [state] = await readRunStates(db, [run.id]);
      assert.deepEqual([head!.version, head!.stateTag], [state!.version, state!.stateTag]);
    });
  });

  describe('events', () => {
    it('have versions of their own that rise, and the last has that of a poll', async () => {
      const run = await openRun(db, ['http', 'http', 'http']);
      for (const index of [0, 1]) await claim(run, index);
      await record(run, 0);
      const first = await eventsOf(run);
      assert.deepEqual(wordsOf(run, first), ['run In Progress', 'node 1 in progress', 'node 0 succeed']);
      assert.equal(first.at(-1)!.version, await versionOf(run));
      await record(run, 1);
      await record(run, 2);
      await endRun(db, run.id, DONE);
      const all = await eventsOf(run);
      assert.deepEqual(all.slice(0, 3), first, 'what was ordered keeps its place');
      assert.deepEqual(wordsOf(run, all.slice(3)), ['node 1 succeed', 'node 2 succeed', 'run Succeeded']);
      assert.equal(all.at(-1)!.version, await versionOf(run));
      const versions = all.map(({ version }) => version);
      assert.deepEqual(
        versions,
        [...new Set(versions)].toSorted((a, b) => a - b),
      );
      assert.deepEqual(await eventsOf(run, all[2]!.version), all.slice(3));
    });

    it('of a change that is committed late follow every version that anybody has seen before', async () => {
      const run = await openRun(db, ['http', 'http']);
      const [late, seen] = await db.transaction().execute(async (slow) => {
        // This change has the earlier time, and the later commit.
        await recordNodeEnd(slow, nodeEnd(run, run.nodeIds[0]!, 'http'));
        await record(run, 1);
        return [run.nodeIds[0]!, [await versionOf(run), (await eventsOf(run)).at(-1)!.version]] as const;
      });
      const event = (await eventsOf(run)).find(({ subject }) => subject === late)!;
      assert.ok(
        seen.every((version) => event.version > version),
        `${event.version} after ${seen.join()}`,
      );
    });

    it('of changes between which somebody polled come after the version of that poll, seen or not', async () => {
      const run = await openRun(db, ['http', 'http', 'http']);
      await eventsOf(run);
      const polled = await db.transaction().execute(async (slow) => {
        await recordNodeEnd(slow, nodeEnd(run, run.nodeIds[0]!, 'http'));
        await record(run, 1);
        return versionOf(run);
      });
      await record(run, 2);
      const after = await eventsOf(run, polled);
      assert.ok(wordsOf(run, after).includes('node 0 succeed'), 'the poll has not seen it');
    });

    it('that many processes order at once are ordered once, and the same for all', async () => {
      const run = await openRun(
        db,
        Array.from({ length: 40 }, () => 'http' as const),
      );
      let isDone = false;
      const readers = Array.from({ length: 4 }, async () => {
        const seen: RunEvent[] = [];
        for (let isLast = false; ; isLast = isDone) {
          seen.push(...(await eventsOf(run, seen.at(-1)?.version)));
          if (isLast) return seen;
        }
      });
      await Promise.all(
        run.nodeIds.map(async (_id, index) => {
          await claim(run, index);
          await record(run, index);
        }),
      );
      await endRun(db, run.id, DONE);
      isDone = true;
      const [first, ...others] = await Promise.all(readers);
      for (const other of others) assert.deepEqual(other, first);
      const ends = wordsOf(run, first!).filter((word) => word.endsWith('succeed'));
      assert.equal(new Set(ends).size, 40);
      assert.equal(ends.length, 40, 'each once');
      assert.equal(first!.at(-1)!.status, 'Succeeded');
    });

    it('of an approval are its request and its decision, each as it was then', async () => {
      const run = await openRun(db, ['agent']);
      await claim(run, 0);
      const requestId = `${run.id}-x`;
      await ask(run, requestId);
      await decideRequest(db, {
        runId: run.id,
        requestId,
        decision: 'rejected',
        reason: 'no',
        userId: run.userId,
        role: 'owner',
      });
      const approvals = (await eventsOf(run)).filter(({ kind }) => kind === 'approval');
      const shown = approvals.map(({ content: told }) => (told as EventObject).object);
      assert.deepEqual(
        shown.map(({ status }) => status),
        ['pending', 'rejected'],
      );
      assert.deepEqual([shown[0]!['decided_at'], shown[0]!['decided_by'], shown[0]!['reason']], [null, null, '']);
      assert.deepEqual([shown[1]!['decided_by'], shown[1]!['reason']], [run.userId, 'no']);
      assert.deepEqual(shown[0]!['arguments'], { a: 1 });
    });

    it('of an approval by several people are each decision that counts, also those that are ordered late', async () => {
      const run = await openRun(db, ['agent']);
      await claim(run, 0);
      const requestId = `${run.id}-three`;
      await ask(run, requestId);
      await sql`UPDATE approval_requests SET required = 3 WHERE request_id = ${requestId}`.execute(db);
      const { rows: people } = await sql<{ id: number }>`
        INSERT INTO users (name) SELECT 'one of three' FROM generate_series(1, 3) RETURNING id`.execute(db);
      const versions = [await versionOf(run)];
      for (const { id: userId } of people) {
        const made = { runId: run.id, requestId, decision: 'approved', reason: '', userId, role: 'owner' } as const;
        await decideRequest(db, made);
        versions.push(await versionOf(run));
      }
      assert.deepEqual(
        versions.map((version) => version - versions[0]!),
        [0, 1, 2, 3].map((changes) => changes * VERSION_STEP),
      );
      const approvals = (await eventsOf(run)).filter(({ kind }) => kind === 'approval');
      const shown = approvals.map(
        ({ content: told }) => (told as EventObject).object as { status: string; decisions: unknown[] },
      );
      assert.deepEqual(
        shown.map(({ status, decisions }) => [status, decisions.length]),
        [
          ['pending', 0],
          ['pending', 1],
          ['pending', 2],
          ['approved', 3],
        ],
      );
      assert.equal(approvals.at(-1)!.version, versions.at(-1));
      assert.equal(new Set(approvals.map(({ version }) => version)).size, 4);
    });

    it('hold a small result, and of a large one its size', async () => {
      const run = await openRun(db, ['http', 'http']);
      const large = JSON.stringify({ content: 'x'.repeat(20_000) });
      await record(run, 0);
      await recordNodeEnd(db, nodeEnd(run, run.nodeIds[1]!, 'http', { result: large }));
      const nodes = (await eventsOf(run)).filter(({ kind }) => kind === 'node');
      const [small, apart] = run.nodeIds.map((id) => nodes.find(({ subject }) => subject === id)!);
      assert.deepEqual(JSON.parse((small!.content as EventNode).node.result!), { content: 'done' });
      assert.equal(small!.apartBytes, null);
      assert.equal(apart!.apartBytes, large.length);
      assert.equal((apart!.content as EventNode).node.result, null);
    });

    it('go with the contents of the run when that has expired', async () => {
      const run = await openRun(db, ['http']);
      await record(run, 0);
      await endRun(db, run.id, DONE);
      await eventsOf(run);
      await sql`UPDATE runs SET results_expired_at = now() - interval '10 years', is_purge_pending = true WHERE id = ${run.id}`.execute(
        db,
      );
      await eventually(async () => {
        await db.transaction().execute((trx) => purgeRuns(trx, 500));
        return (await readRunEvents(db, [{ runId: run.id, after: 0 }], 10)).get(run.id)!.length === 0;
      });
    });
  });

  describe('notifications of changes', () => {
    let client: pg.Client;
    const told: string[] = [];

    before(async () => {
      client = new pg.Client({ connectionString: (await sharedStack()).stack.database_url });
      await client.connect();
      client.on('notification', ({ payload }) => told.push(payload!));
      await client.query('LISTEN run_changes');
    });
    after(() => client.end());

    const plain = (...runIds: string[]) => runIds.map((runId) => ({ runId, deltas: false, endsOnly: false }));
    const timesTold = (run: OpenRun): number => told.filter((id) => id === run.id).length;

    it('are sent for each change of a watched run, and for no other run', async () => {
      const [watched, other] = [await openRun(db, ['http']), await openRun(db, ['http'])];
      const listener = randomUUID();
      await watchRuns(db, listener, plain(watched.id));
      for (const [count, change] of [
        (run: OpenRun) => claim(run, 0),
        (run: OpenRun) => record(run, 0),
        (run: OpenRun) => endRun(db, run.id, DONE),
      ].entries()) {
        await change(other);
        await change(watched);
        await eventually(() => timesTold(watched) === count + 1);
      }
      assert.equal(timesTold(other), 0);
      await renewWatches(db, listener, []);
    });

    it('are also sent for approvals, and for the end of a cancelled run', async () => {
      const run = await openRun(db, ['agent']);
      const listener = randomUUID();
      await watchRuns(db, listener, plain(run.id));
      await ask(run, `${run.id}-y`);
      await decideRequest(db, {
        runId: run.id,
        requestId: `${run.id}-y`,
        decision: 'approved',
        reason: '',
        userId: run.userId,
        role: 'owner',
      });
      await eventually(() => timesTold(run) === 1);
      await endRun(db, run.id, { status: 'cancelled' });
      await eventually(() => timesTold(run) === 2);
      await renewWatches(db, listener, []);
    });

    it('are sent at the end only, successful or cancelled, to a watch that waits for the end alone', async () => {
      const listener = randomUUID();
      const [plain_, cancelled, marker] = [
        await openRun(db, ['http']),
        await openRun(db, ['agent']),
        await openRun(db, ['http']),
      ];
      const runs = [plain_, cancelled];
      await watchRuns(
        db,
        listener,
        runs.map(({ id }) => ({ runId: id, deltas: false, endsOnly: true })),
      );
      await watchRuns(db, listener, plain(marker.id));
      for (const run of runs) await claim(run, 0);
      await ask(cancelled, `${cancelled.id}-z`);
      for (const run of runs) await record(run, 0);
      await claim(marker, 0);
      await eventually(() => timesTold(marker) === 1);
      assert.deepEqual(runs.map(timesTold), [0, 0]);
      await endRun(db, plain_.id, DONE);
      await endRun(db, cancelled.id, { status: 'cancelled' });
      await eventually(() => runs.every((run) => timesTold(run) === 1));
      await renewWatches(db, listener, []);
    });

    it('are no longer sent once the watch was left or has expired', async () => {
      const [left, dead] = [await openRun(db, ['http']), await openRun(db, ['http'])];
      const listener = randomUUID();
      await watchRuns(db, listener, plain(left.id, dead.id));
      await renewWatches(db, listener, plain(dead.id));
      await sql`UPDATE run_watches SET until = now() WHERE run_id = ${dead.id}`.execute(db);
      const last = await openRun(db, ['http']);
      await watchRuns(db, listener, plain(last.id));
      for (const run of [left, dead, last]) await record(run, 0);
      await eventually(() => timesTold(last) === 1);
      assert.deepEqual([timesTold(left), timesTold(dead)], [0, 0]);
      await renewWatches(db, listener, []);
    });
  });
});
