// Each way to start a run must store whether its plan is plain (graph/plain-plan.ts), because a poll of a plain run
// reads less.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../../harness/timing/eventually.js';
import { drawing, http, linkInRow, node, trigger, type DrawingNode } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { createAccount } from '../accounts.js';
import { answerTo, converse, createChat, say } from '../conversations/chats.js';
import { openResumeWorld, type ResumeWorld } from './resume/resume-world.js';

describe('a run is stored as plain', function () {
  this.timeout(120_000);
  let world: ResumeWorld;

  before(async () => {
    world = await openResumeWorld();
  });
  after(() => world.close());

  async function isPlain(runId: string): Promise<boolean> {
    const [row] = await queryDatabase<{ plain: boolean }>(
      world.stack,
      'SELECT is_plain AS plain FROM runs WHERE id = $1',
      [runId],
    );
    return row!.plain;
  }
  const call = (): DrawingNode => http(`${world.target.url}/${randomUUID()}`);

  it('or not, by the nodes of its plan', async () => {
    const plain = await world.runRow([call(), node('output', { value: 1 })]);
    const waiting = await world.runRow([call(), node('wait', { seconds: 1 })]);
    assert.deepEqual([await isPlain(plain.runId), await isPlain(waiting.runId)], [true, false]);
  });

  it('by its own plan, even if a run that is not plain has started it', async () => {
    const { workflowId: called } = await world.runRow([call()]);
    const parent = await world.runRow([node('workflow', { workflow_id: called, input: {} })]);
    const children = await queryDatabase<{ plain: boolean }>(
      world.stack,
      'SELECT is_plain AS plain FROM runs WHERE parent_run_id = $1',
      [parent.runId],
    );
    assert.deepEqual([await isPlain(parent.runId), children], [false, [{ plain: true }]]);
  });

  it('when it resumes another one, with the drawing of then or of now', async () => {
    for (const body of [{ drawing: 'then' }, { drawing: 'now' }]) {
      const failed = await world.runRow([world.failsFirst(), call()]);
      const resumed = await world.resumeToEnd(failed, body);
      assert.deepEqual([await isPlain(failed.runId), await isPlain(resumed.runId)], [true, true]);
    }
  });

  it('never if it is a test', async () => {
    const { workflowId, runId } = await world.runRow([call()]);
    const started = await world.api.post<{ data: { id: string } }>(`/workflows/${workflowId}/test/`, {
      body: { mode: 'node', node: (await nodesOf(runId)).at(-1)! },
    });
    assert.equal(await isPlain(started.body.data.id), false, JSON.stringify(started.body));
  });

  it('in a conversation only when its turn comes, because it has no plan before', async () => {
    const { api } = await createAccount(world.stack);
    const held = `/hold/${randomUUID()}`;
    const nodes = [trigger(), http(`${world.target.url}${held}`), node('output', { value: '{{ input.messages }}' })];
    const chat = await createChat(api, await api.createProject(), drawing(linkInRow(nodes)));
    const { id } = await converse(api, chat);
    const [first, queued] = [await say(api, id, 'first'), await say(api, id, 'queued')];
    assert.deepEqual([await isPlain(first.run_id), await isPlain(queued.run_id)], [true, false]);
    world.target.release(held);
    await answerTo(api, id, queued);
    assert.equal(await eventually(() => isPlain(queued.run_id)), true);
  });

  async function nodesOf(runId: string): Promise<string[]> {
    const rows = await queryDatabase<{ id: string }>(
      world.stack,
      'SELECT node_id AS id FROM node_results WHERE run_id = $1 ORDER BY started_at',
      [runId],
    );
    return rows.map(({ id }) => id);
  }
});
