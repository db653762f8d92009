// Counts the cost of a poll for the database: its statements, and the nodes of their plans.
import assert from 'node:assert/strict';
import { createSharedReads } from '../../../api/live/shared-reads.js';
import type { Database } from '../../../db/core/client.js';
import { claimNode, recordNodeEnd } from '../../../db/nodes/node-results-repository.js';
import { readRunForPoll, readRunHead } from '../../../db/runs/poll-repository.js';
import { endRun } from '../../../db/runs/run-life.js';
import { findEndedRuns, readRunStates } from '../../../db/watches/run-watches-repository.js';
import type { NodeKind } from '../../../graph/kinds.js';
import { countPlanNodes } from '../../support/explain.js';
import { sharedStack } from '../../support/shared-stack.js';
import { connect, nodeEnd, openRun, type OpenRun } from '../open-run.js';

describe('the statements of a poll', function () {
  this.timeout(60_000);
  let db: Database;
  let url: string;

  before(async () => {
    db = await connect();
    url = (await sharedStack()).stack.database_url;
  });
  after(() => db.destroy());

  async function begin(kinds: NodeKind[]): Promise<OpenRun> {
    const run = await openRun(db, kinds);
    const member = { project_id: run.projectId, user_id: run.userId, role: 'owner' as const };
    await db.insertInto('project_members').values(member).execute();
    await claimNode(db, { runId: run.id, path: '', nodeId: run.nodeIds[0]! });
    return run;
  }

  async function end(run: OpenRun, kinds: NodeKind[]): Promise<void> {
    for (const [index, nodeId] of run.nodeIds.entries()) await recordNodeEnd(db, nodeEnd(run, nodeId, kinds[index]!));
    await endRun(db, run.id, { status: 'succeed' });
  }

  type Read = (reading: Database, run: OpenRun) => Promise<unknown>;
  const read: Record<'poll' | 'head' | 'state' | 'end', Read> = {
    poll: (reading, { id, userId }) => readRunForPoll(reading, { runId: id, userId }, 30),
    head: (reading, { id, userId }) => readRunHead(reading, { runId: id, userId }, 30),
    state: (reading, { id }) => readRunStates(reading, [id]),
    end: (reading, { id }) => findEndedRuns(reading, [id]),
  };

  /** Returns the number of plan nodes of each statement that `of` sends. */
  const nodesOf = (run: OpenRun, of: keyof typeof read): Promise<number[]> =>
    countPlanNodes(url, (reading) => read[of](reading, run));

  it('are one for a plain run, open or ended, and its plan is small', async () => {
    const kinds: NodeKind[] = ['http', 'http', 'llm', 'code', 'http'];
    const run = await begin(kinds);
    for (const at of ['open', 'ended']) {
      const most = { poll: 32, head: 28, state: 20, end: 5 };
      for (const of of ['poll', 'head', 'state', 'end'] as const) {
        const counted = await nodesOf(run, of);
        assert.equal(counted.length, 1, `${of} of an ${at} run`);
        assert.ok(counted[0]! <= most[of], `${of} of an ${at} run has ${counted[0]} nodes`);
      }
      if (at === 'open') await end(run, kinds);
    }
  });

  it('are two for a run whose nodes may wait, and one when that has ended', async () => {
    const run = await begin(['agent', 'http']);
    assert.equal((await nodesOf(run, 'poll')).length, 2);
    assert.equal((await nodesOf(run, 'head')).length, 1);
    await end(run, ['agent', 'http']);
    assert.equal((await nodesOf(run, 'poll')).length, 1);
  });

  it('are shared by polls that come at one moment', async () => {
    const runs = await Promise.all([begin(['http']), begin(['http']), begin(['agent'])]);
    const statements = await countPlanNodes(url, async (reading) => {
      const shared = createSharedReads(reading, 30);
      const polls = runs.map(({ id, userId }) => shared.poll({ runId: id, userId }));
      const heads = runs.map(({ id, userId }) => shared.head({ runId: id, userId }));
      const [found, states] = [await Promise.all(polls), await Promise.all(heads)];
      assert.deepEqual(
        found.map((run) => run!.stateTag),
        states.map((run) => run!.stateTag),
      );
    });
    assert.equal(statements.length, 3, 'one for all polls, one for what the agent may wait for, one for all heads');
  });
});
