// The results that loops reuse when their run is resumed (docs/use/resume.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../../harness/client/api-client.js';
import { drawing, http, link, linkInRow, node, resultOf, trigger } from '../../../../harness/drawing/drawing.js';
import type { DrawingNode } from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { openResumeWorld, reusedOf, type ResumeWorld } from './resume-world.js';

interface Iteration {
  index: number;
  status: string;
  reused?: true;
  nodes: Record<string, { reused?: true }>;
}

describe('what is kept of loops when a run is resumed', function () {
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

  async function iterationsOf(run: { workflowId: number; runId: string }, loop: DrawingNode): Promise<Iteration[]> {
    const path = `/workflows/${run.workflowId}/history/${run.runId}/iterations/?node=${loop.id}&size=100`;
    return (await api.get<{ items: Iteration[] }>(path)).body.items;
  }

  /** A drawing of a trigger, the loop with its body, and the nodes `after` the loop. */
  function looped(loop: DrawingNode, body: DrawingNode[], after: DrawingNode[] = []): object {
    const start = trigger();
    linkInRow([start, loop, ...after]);
    loop.data['body_node'] = body[0]!.id;
    return drawing([start, loop, ...after, ...body]);
  }

  it('a loop over items that failed keeps the items that are done', async () => {
    const [call, note] = [http(''), node('set', {})];
    const items = Array.from({ length: 6 }, () => randomUUID());
    const each = node('for_each', { items, concurrency: 1 });
    call.data['url'] = `${target.url}/{{ ${each.id}.item }}`;
    note.data['value'] = { of: `{{ ${each.id}.index }}`, answer: resultOf(call, 'json.path') };
    link(call, note);
    world.failsOnce(`/${items[3]}`);
    const failed = await world.runToEnd(looped(each, [call, note]));
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(
      items.map((item) => world.callsTo(`/${item}`)),
      [1, 1, 1, 2, 1, 1],
    );
    const outputs = resumed.nodes[each.id]!.result!['items'] as { of: number; answer: string }[];
    assert.deepEqual(
      outputs.map(({ of }) => of),
      [0, 1, 2, 3, 4, 5],
    );
    assert.equal(outputs[1]!.answer, `/${items[1]}`);
    assert.deepEqual(resumed.nodes[each.id]!.iterations, { total: 6, succeeded: 6, failed: 0, in_progress: 0 });
    const iterations = await iterationsOf(resumed, each);
    assert.deepEqual(
      iterations.map(({ reused }) => reused === true),
      [true, true, true, false, false, false],
    );
    assert.deepEqual(
      iterations.map(({ nodes }) => nodes[call.id]!.reused === true),
      [true, true, true, false, false, false],
    );
    // The trigger is reused; the loop and three iterations of two nodes were executed.
    assert.equal((await transactionsOf(stack, resumed.runId)).length, 7);
    assert.deepEqual(reusedOf(resumed).size, 1);
  });

  it('a loop that succeeded is kept with everything in it, and an inner loop keeps its items, too', async () => {
    const call = http('');
    const path = randomUUID();
    const inner = node('for_each', { items: ['a', 'b'], body_node: call.id });
    const outer = node('for_each', { items: ['1', '2', '3'], concurrency: 1 });
    inner.data['concurrency'] = 1;
    call.data['url'] = `${target.url}/${path}/{{ ${outer.id}.item }}/{{ ${inner.id}.item }}`;
    world.failsOnce(`/${path}/3/b`);
    const last = world.failsFirst();
    const failed = await world.runToEnd(looped(outer, [inner, call], [last]));
    assert.equal(failed.status, 'failed');
    const second = await world.resumeToEnd(failed);
    assert.equal(second.status, 'failed', 'the node after the loop fails once, too');
    assert.deepEqual(reusedOf(second).size, 1);
    const calls = (): number[] =>
      ['1/a', '1/b', '2/a', '2/b', '3/a', '3/b'].map((end) => world.callsTo(`/${path}/${end}`));
    assert.deepEqual(calls(), [1, 1, 1, 1, 1, 2]);
    const third = await world.resumeToEnd(second);
    assert.equal(third.status, 'succeed', JSON.stringify(third.nodes));
    assert.deepEqual(calls(), [1, 1, 1, 1, 1, 2]);
    assert.deepEqual(third.nodes[outer.id], { ...second.nodes[outer.id], reused: true });
    const [first] = await iterationsOf(third, outer);
    assert.equal(first!.nodes[inner.id]!.reused, true);
    const from = `&path=${encodeURIComponent(`${outer.id}[0]`)}`;
    const nested = await api.get<{ total: number }>(
      `/workflows/${third.workflowId}/history/${third.runId}/iterations/?node=${inner.id}${from}`,
    );
    assert.equal(nested.body.total, 2);
    assert.equal((await transactionsOf(stack, third.runId)).length, 1);
  });

  it('a failed iteration goes on after its finished nodes, also after one whose error was handled', async () => {
    const path = randomUUID();
    const each = node('for_each', { items: ['a', 'b'], concurrency: 1 });
    const of = (name: string, data = {}): DrawingNode =>
      http(`${target.url}/${path}/${name}/{{ ${each.id}.item }}`, data);
    const [paid, caught, never, last] = [of('paid'), http(`${target.url}/status/418`), of('never'), of('last')];
    caught.data['on_error'] = 'branch';
    const told = node('set', { value: `${resultOf(paid, 'json.path')} {{ ${caught.id}.error.code }}` });
    caught.data['error_node'] = told.id;
    linkInRow([paid, caught, never]);
    linkInRow([told, last]);
    each.data['output'] = resultOf(told);
    world.failsOnce(`/${path}/last/b`);
    const failed = await world.runToEnd(looped(each, [paid, caught, never, told, last]));
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    const calls = ['paid/a', 'paid/b', 'never/a', 'never/b', 'last/a', 'last/b'].map((end) =>
      world.callsTo(`/${path}/${end}`),
    );
    assert.deepEqual(calls, [1, 1, 0, 0, 1, 2]);
    assert.deepEqual(resumed.nodes[each.id]!.result!['items'], [
      `/${path}/paid/a http_status`,
      `/${path}/paid/b http_status`,
    ]);
    const [, second] = await iterationsOf(resumed, each);
    assert.deepEqual(
      [second!.reused, second!.nodes[paid.id]!.reused, second!.nodes[last.id]!.reused],
      [undefined, true, undefined],
    );
    assert.equal((await transactionsOf(stack, resumed.runId)).length, 2);
  });

  it('a loop with rounds goes on with the failed round, and `last` is the output of the round before', async () => {
    const path = randomUUID();
    const rounds = node('loop', { max_rounds: 6 });
    rounds.data['until'] = { left: `{{ ${rounds.id}.index }}`, operator: '==', right: '4' };
    const call = http(`${target.url}/${path}/{{ ${rounds.id}.index }}`);
    const sum = node('set', { value: `{{ ${rounds.id}.last }}{{ ${rounds.id}.index }}` });
    link(call, sum);
    world.failsOnce(`/${path}/2`);
    const failed = await world.runToEnd(looped(rounds, [call, sum]));
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[rounds.id]!.result!.content, '01234');
    assert.equal(resumed.nodes[rounds.id]!.result!['rounds'], 5);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((round) => world.callsTo(`/${path}/${round}`)),
      [1, 1, 2, 1, 1],
    );
  });

  it('a loop whose last round has met `until` executes no further round', async () => {
    const rounds = node('loop', { max_rounds: 5 });
    rounds.data['until'] = { left: `{{ ${rounds.id}.last }}`, operator: '==', right: '2' };
    const say = node('set', { value: `{{ ${rounds.id}.index }}` });
    const failed = await world.runToEnd(looped(rounds, [say], [world.failsFirst()]));
    // Simulates a run that was stopped between the end of the last round and the end of the loop.
    const lose = `UPDATE node_results SET status = 'failed', error_code = 'cancelled', result = NULL
      WHERE run_id = $1 AND node_id = $2 AND path = ''`;
    await queryDatabase(stack, lose, [failed.runId, rounds.id]);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[rounds.id]!.result!['rounds'], 3);
    assert.equal(resumed.nodes[rounds.id]!.iterations!.total, 3);
  });

  it('a loop with reused iterations keeps its items, even if the node before it has another result now', async () => {
    const says = node('set', { value: ['a', 'b'] });
    const path = randomUUID();
    const call = http('');
    const each = node('for_each', { items: resultOf(says, 'value'), body_node: call.id, concurrency: 1 });
    call.data['url'] = `${target.url}/${path}/{{ ${each.id}.item }}`;
    world.failsOnce(`/${path}/b`);
    const start = trigger();
    linkInRow([start, says, each]);
    const failed = await world.runToEnd(drawing([start, says, each, call]));
    assert.equal(failed.status, 'failed', JSON.stringify(failed.nodes));
    const change = `UPDATE node_results SET result = '{"content":"","value":["x","y","z"]}' WHERE run_id = $1 AND node_id = $2`;
    await queryDatabase(stack, change, [failed.runId, says.id]);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[each.id]!.iterations!.total, 2);
    assert.deepEqual(
      ['a', 'b', 'z'].map((item) => world.callsTo(`/${path}/${item}`)),
      [1, 2, 0],
    );
  });

  it('a loop without reused iterations reads its items again', async () => {
    const says = node('set', { value: ['a', 'b'] });
    const path = randomUUID();
    const call = http('');
    const each = node('for_each', { items: resultOf(says, 'value'), body_node: call.id, concurrency: 1 });
    call.data['url'] = `${target.url}/${path}/{{ ${each.id}.item }}`;
    world.failsOnce(`/${path}/a`);
    const start = trigger();
    linkInRow([start, says, each]);
    const failed = await world.runToEnd(drawing([start, says, each, call]));
    const change = `UPDATE node_results SET result = '{"content":"","value":["x","y","z"]}' WHERE run_id = $1 AND node_id = $2`;
    await queryDatabase(stack, change, [failed.runId, says.id]);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(
      ['a', 'x', 'y', 'z'].map((item) => world.callsTo(`/${path}/${item}`)),
      [1, 1, 1, 1],
    );
  });
});
