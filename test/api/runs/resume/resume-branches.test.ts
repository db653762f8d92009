// The nodes whose results a resumed run reuses in drawings with branches (docs/use/resume.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../../harness/client/api-client.js';
import {
  condition,
  drawing,
  http,
  link,
  linkInRow,
  mcp,
  node,
  resultOf,
  trigger,
} from '../../../../harness/drawing/drawing.js';
import type { Drawing, DrawingNode } from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { openResumeWorld, reusedOf, type EndedRun, type ResumeWorld } from './resume-world.js';

describe('resume where the drawing branches', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let world: ResumeWorld;

  before(async () => {
    world = await openResumeWorld();
    ({ stack, api, target } = world);
  });
  after(() => world.close());

  /** The number of requests to the node's address. Each node has its own address. */
  const callsOf = ({ data }: DrawingNode): number => target.requestsTo(new URL(String(data['url'])).pathname).length;
  const plain = (data: Record<string, unknown> = {}): DrawingNode => http(`${target.url}/${randomUUID()}`, data);

  it('branches that were not taken stay so, and a join behind them is kept', async () => {
    const start = trigger();
    const choice = condition('1', '==', '1');
    const [yes, no, join, last] = [plain(), plain(), plain(), world.failsFirst()];
    link(start, choice);
    link(choice, yes, 'true');
    link(choice, no, 'false');
    link(yes, join);
    link(no, join);
    link(join, last);
    const failed = await world.runToEnd(drawing([start, choice, yes, no, join, last]));
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(reusedOf(resumed), new Set([start.id, choice.id, yes.id, join.id]));
    assert.deepEqual([yes, no, join, last].map(callsOf), [1, 0, 1, 2]);
    assert.equal(await world.refusalOf(resumed, { from: [no.id] }), 'nothing_left');
  });

  it('a switch that took several cases keeps them', async () => {
    const [one, two, three] = [plain(), world.failsFirst(), plain()];
    const cases = [one, two, three].map(({ id }, index) => ({
      id: `case-${index}`,
      condition: { left: String(index), operator: '!=', right: '2' },
      node: id,
    }));
    const choice = node('switch', { cases, mode: 'all' });
    const start = trigger();
    link(start, choice);
    two.data['next_nodes'] = [];
    const failed = await world.runToEnd(drawing([start, choice, one, two, three]));
    const resumed = await world.resumeToEnd(failed, { from: [one.id] });
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual([callsOf(two), callsOf(three)], [2, 0]);
    assert.equal(resumed.nodes[choice.id]!.reused, true);
  });

  it('a handled error keeps its branch and its message', async () => {
    const fails = http(`${target.url}/status/418`, { on_error: 'branch' });
    const told = node('set', { value: `{{ ${fails.id}.error.code }}` });
    const [never, last] = [plain(), world.failsFirst()];
    fails.data['error_node'] = told.id;
    link(fails, never);
    link(told, last);
    const after = node('set', { value: `{{ ${fails.id}.error.code }}` });
    link(last, after);
    const start = trigger();
    link(start, fails);
    const failed = await world.runToEnd(drawing([start, fails, told, never, last, after]));
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(resumed.nodes[fails.id], { ...failed.nodes[fails.id], reused: true });
    assert.equal(resumed.nodes[fails.id]!.handled, true);
    assert.equal(resumed.nodes[after.id]!.result!.content, 'http_status');
    assert.equal(callsOf(never), 0);
  });

  it('a node with join `any` is not repeated for its second link, unless a node before it was chosen', async () => {
    const [quick, any] = [plain(), plain({ join: 'any' })];
    const slowPath = `/${randomUUID()}`;
    target.on(slowPath, () => ({
      status: target.requestsTo(slowPath).length === 1 ? 418 : 200,
      after: [new URL(String(any.data['url'])).pathname],
    }));
    const slow = http(`${target.url}${slowPath}`);
    const start = trigger();
    link(start, [quick, slow]);
    link(quick, any);
    link(slow, any);
    const failed = await world.runToEnd(drawing([start, quick, slow, any]));
    assert.equal(failed.nodes[any.id]?.status, 'succeed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed');
    assert.deepEqual([quick, slow, any].map(callsOf), [1, 2, 1]);
    const chosen = await world.resumeToEnd(resumed, { from: [slow.id] });
    assert.equal(chosen.status, 'succeed');
    assert.deepEqual([quick, slow, any].map(callsOf), [1, 3, 2]);
  });

  it('dense execution executes the remaining nodes in shared activities', async () => {
    const check = (): DrawingNode => condition('1', '==', '1');
    const [first, second, third, fourth, fails, last] = [
      check(),
      check(),
      check(),
      check(),
      world.failsFirst(),
      plain(),
    ];
    const start = trigger();
    link(start, [first, second]);
    link(first, third);
    link(second, fails);
    linkInRow([fails, last]);
    link(third, fourth);
    link(last, fourth);
    const data = { ...drawing([start, first, second, third, fourth, fails, last]), settings: { execution: 'dense' } };
    const failed = await world.runToEnd(data);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual([callsOf(fails), callsOf(last)], [2, 1]);
    assert.equal(resumed.nodes[fourth.id]!.reused, undefined);
    assert.equal(Object.keys(resumed.nodes).length, 7);
  });

  describe('with the drawing as it is now', () => {
    async function change(run: EndedRun, data: Drawing): Promise<void> {
      const { status } = await api.patch(`/workflows/${run.workflowId}/`, { body: { data } });
      assert.equal(status, 200);
    }

    it('keeps what is unchanged, and executes what has changed with all that follows', async () => {
      const nodes = [plain(), plain({ label: 'second' }), plain(), world.failsFirst()];
      const start = trigger();
      const data = drawing(linkInRow([start, ...nodes]));
      const failed = await world.runToEnd(data);
      const moved = { ...data, nodes: data.nodes.map((of) => ({ ...of, position: { x: 9, y: 9 } })) };
      await change(failed, moved);
      const asBefore = await world.resumeToEnd(failed, { drawing: 'now' });
      assert.equal(asBefore.status, 'succeed');
      assert.deepEqual(nodes.map(callsOf), [1, 1, 1, 2]);
      nodes[1]!.data['headers'] = { 'x-changed': 'yes' };
      await change(failed, drawing([start, ...nodes]));
      const resumed = await world.resumeToEnd(asBefore, { from: [], drawing: 'now' });
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.deepEqual(reusedOf(resumed), new Set([start.id, nodes[0]!.id]));
      assert.deepEqual(nodes.map(callsOf), [1, 2, 2, 3]);
      const run = await api.history(resumed.workflowId, resumed.runId);
      assert.equal(run['workflow_version'], 2);
      assert.equal(await world.refusalOf(resumed, { drawing: 'now' }), 'nothing_left');
      // With its own drawing, the earlier run has nothing left to do.
      assert.equal(await world.refusalOf(asBefore), 'nothing_left');
    });

    it('a node that is added behind others, or between them, repeats none of those before it', async () => {
      const [first, last, added] = [plain(), plain(), plain()];
      const start = trigger();
      const done = await world.runToEnd(drawing(linkInRow([start, first, last])));
      first.data['next_nodes'] = [added.id];
      link(added, last);
      await change(done, drawing([start, first, added, last]));
      const resumed = await world.resumeToEnd(done, { drawing: 'now' });
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.deepEqual([first, added, last].map(callsOf), [1, 1, 2]);
      assert.equal(await world.refusalOf(done, { from: [added.id], drawing: 'now' }), 'unknown_node');
    });

    it('a change in the body of a loop repeats the loop, and a new header its node', async () => {
      const body = node('set', { value: 'old' });
      const each = node('for_each', { items: [1, 2], body_node: body.id });
      const call = plain({ headers: { Authorization: 'Bearer first' } });
      const start = trigger();
      linkInRow([start, call, each]);
      const done = await world.runToEnd(drawing([start, call, each, body]));
      body.data['value'] = 'new';
      await change(done, drawing([start, call, each, body]));
      const looped = await world.resumeToEnd(done, { drawing: 'now' });
      assert.deepEqual(looped.nodes[each.id]!.result!['items'], ['new', 'new']);
      assert.equal(callsOf(call), 1);
      call.data['headers'] = { Authorization: 'Bearer second' };
      await change(done, drawing([start, call, each, body]));
      const resumed = await world.resumeToEnd(looped, { drawing: 'now' });
      assert.deepEqual(reusedOf(resumed), new Set([start.id]));
      const path = new URL(String(call.data['url'])).pathname;
      assert.equal(target.requestsTo(path).at(-1)!.headers['authorization'], 'Bearer second');
    });

    it('secrets in reused results stay masked, even if the new drawing no longer contains them', async () => {
      const secret = `canary-${randomUUID()}`;
      // The result of `says`, which is reused, contains a secret of the later node `fails`.
      const says = node('set', { value: secret });
      const told = node('set', { value: resultOf(says) });
      const fails = mcp(`${target.url}/status/418`, 'any', {}, { headers: { Authorization: secret } });
      const start = trigger();
      const failed = await world.runToEnd(drawing(linkInRow([start, says, fails, told])));
      assert.equal(failed.nodes[says.id]!.result!.content, '********');
      fails.data['headers'] = { Authorization: 'another' };
      fails.data['on_error'] = 'continue';
      await change(failed, drawing([start, says, fails, told]));
      const resumed = await world.resumeToEnd(failed, { drawing: 'now' });
      assert.deepEqual(reusedOf(resumed), new Set([start.id, says.id]));
      assert.equal(resumed.nodes[told.id]!.result!.content, '********', JSON.stringify(resumed.nodes));
    });

    it('a drawing that is not valid is refused, and leaves no run', async () => {
      const call = world.failsFirst();
      const start = trigger();
      const failed = await world.runToEnd(drawing(linkInRow([start, call])));
      call.data['url'] = '';
      await change(failed, drawing([start, call]));
      const answer = await world.resume<{ code: string; status: number }>(failed, { body: { drawing: 'now' } });
      assert.deepEqual([answer.status, answer.body.code, answer.body.status], [400, 'invalid_nodes', 422]);
      const count = 'SELECT count(*) AS runs FROM runs WHERE workflow_id = $1';
      const [row] = await queryDatabase<{ runs: string }>(stack, count, [failed.workflowId]);
      assert.equal(Number(row!.runs), 1);
      assert.equal((await world.resumeToEnd(failed)).status, 'succeed', 'as it was then, it can run');
    });
  });
});
