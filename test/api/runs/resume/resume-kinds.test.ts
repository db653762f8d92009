// What each kind of node keeps when its run is resumed. docs/use/resume.md.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, RunRecord } from '../../../support/api-client.js';
import { agent, drawing, http, link, linkInRow, node, resultOf, trigger } from '../../../support/graphs.js';
import type { DrawingNode } from '../../../support/graphs.js';
import { startHttpTarget, type HttpTarget } from '../../../support/http-target.js';
import { queryDatabase, transactionsOf } from '../../../support/inspect.js';
import { sharedStack } from '../../../support/shared-stack.js';
import type { TestStack } from '../../../support/stack.js';
import { startToolServer } from '../../../support/tool-server.js';
import { callBack, callbackUrlOf, taskOf } from '../../../support/waiting.js';
import { createAccount } from '../../accounts.js';
import { createResumeWorld, reusedOf, type ResumeWorld } from './resume-world.js';

interface Iteration {
  index: number;
  status: string;
  reused?: true;
  nodes: Record<string, { reused?: true }>;
}

describe('what is kept when a run is resumed', function () {
  this.timeout(90_000);
  let stack: TestStack;
  let api: ApiClient;
  let project: number;
  let target: HttpTarget;
  let world: ResumeWorld;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    project = await api.createProject();
    target = await startHttpTarget();
    world = createResumeWorld(api, project);
  });
  after(() => target.close());

  const callsTo = (path: string): number => target.requestsTo(path).length;
  const failsOnce = (path: string): string => {
    target.on(path, [{ status: 418 }, { body: 'ok' }]);
    return `${target.url}${path}`;
  };
  /** A node whose first call fails. */
  const mended = (data: Record<string, unknown> = {}): DrawingNode => http(failsOnce(`/${randomUUID()}`), data);

  async function iterationsOf(run: { workflowId: number; runId: string }, loop: DrawingNode): Promise<Iteration[]> {
    const path = `/workflows/${run.workflowId}/history/${run.runId}/iterations/?node=${loop.id}&size=100`;
    return (await api.get<{ items: Iteration[] }>(path)).body.items;
  }

  /** A trigger, `before`, the loop with its body, and a node after it that fails once. */
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
    failsOnce(`/${items[3]}`);
    const failed = await world.runToEnd(looped(each, [call, note]));
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.deepEqual(
      items.map((item) => callsTo(`/${item}`)),
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

  it('a loop that succeeded is kept with everything in it, and so are loops in kept items', async () => {
    const call = http('');
    const path = randomUUID();
    const inner = node('for_each', { items: ['a', 'b'], body_node: call.id });
    const outer = node('for_each', { items: ['1', '2', '3'], concurrency: 1 });
    call.data['url'] = `${target.url}/${path}/{{ ${outer.id}.item }}/{{ ${inner.id}.item }}`;
    failsOnce(`/${path}/3/b`);
    const last = mended();
    const failed = await world.runToEnd(looped(outer, [inner, call], [last]));
    assert.equal(failed.status, 'failed');
    const second = await world.resumeToEnd(failed);
    assert.equal(second.status, 'failed', 'the node after the loop fails once, too');
    assert.deepEqual(reusedOf(second).size, 1);
    const calls = (): number[] => ['1/a', '1/b', '2/a', '2/b', '3/b'].map((end) => callsTo(`/${path}/${end}`));
    assert.deepEqual(calls(), [1, 1, 1, 1, 2]);
    const third = await world.resumeToEnd(second);
    assert.equal(third.status, 'succeed', JSON.stringify(third.nodes));
    assert.deepEqual(calls(), [1, 1, 1, 1, 2]);
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

  it('a loop over rounds goes on with the round that failed, and knows the round before', async () => {
    const path = randomUUID();
    const rounds = node('loop', { max_rounds: 6 });
    rounds.data['until'] = { left: `{{ ${rounds.id}.index }}`, operator: '==', right: '4' };
    const call = http(`${target.url}/${path}/{{ ${rounds.id}.index }}`);
    const sum = node('set', { value: `{{ ${rounds.id}.last }}{{ ${rounds.id}.index }}` });
    link(call, sum);
    failsOnce(`/${path}/2`);
    const failed = await world.runToEnd(looped(rounds, [call, sum]));
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[rounds.id]!.result!.content, '01234');
    assert.equal(resumed.nodes[rounds.id]!.result!['rounds'], 5);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((round) => callsTo(`/${path}/${round}`)),
      [1, 1, 2, 1, 1],
    );
  });

  it('rounds that are enough are not gone beyond', async () => {
    const rounds = node('loop', { max_rounds: 5 });
    rounds.data['until'] = { left: `{{ ${rounds.id}.last }}`, operator: '==', right: '2' };
    const say = node('set', { value: `{{ ${rounds.id}.index }}` });
    const failed = await world.runToEnd(looped(rounds, [say], [mended()]));
    // As if the run had been stopped between the end of its last round and that of the loop.
    const lose = `UPDATE node_results SET status = 'failed', error_code = 'cancelled', result = NULL
      WHERE run_id = $1 AND node_id = $2 AND path = ''`;
    await queryDatabase(stack, lose, [failed.runId, rounds.id]);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[rounds.id]!.result!['rounds'], 3);
    assert.equal(resumed.nodes[rounds.id]!.iterations!.total, 3);
  });

  it('an agent that succeeded is kept, and one that failed begins anew', async () => {
    const tools = await startToolServer();
    const [good, bad] = [`agent-${randomUUID()}`, `agent-${randomUUID()}`];
    stack.modelProvider.script(good, [{ text: 'good' }]);
    stack.modelProvider.script(bad, [{ status: 400 }, { text: 'better' }]);
    const server = { endpoint_url: tools.url, require_approval: 'never' };
    const [first, second] = [agent('one', { model_name: good }, [server]), agent('two', { model_name: bad }, [server])];
    const failed = await world.runRow([first, second]);
    assert.equal(failed.status, 'failed');
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.nodes[second.id]!.result?.content, 'better', JSON.stringify(resumed.nodes));
    assert.equal(resumed.nodes[first.id]!.result?.content, 'good');
    assert.equal(stack.modelProvider.requestsFor(good).length, 1);
    await tools.close();
  });

  describe('sub-workflows', () => {
    const childOf = async (runId: string): Promise<{ id: string; resumed_from: string | null }[]> =>
      queryDatabase(stack, 'SELECT id, resumed_from FROM runs WHERE parent_run_id = $1', [runId]);

    it('one whose run failed goes on with a run that resumes that one, however deep', async () => {
      const path = `/${randomUUID()}`;
      const [once, fails] = [http(`${target.url}${path}`), mended()];
      const grandchild = await world.workflowOf(
        drawing(linkInRow([trigger(), once, fails, node('output', { value: resultOf(once, 'json.path') })])),
      );
      const middle = node('workflow', { workflow_id: grandchild });
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}/child`), middle])));
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call, node('output', { value: resultOf(call) })]);
      assert.equal(failed.nodes[call.id]!.error?.code, 'child_failed');
      const resumed = await world.resumeToEnd(failed);
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(resumed.output, path);
      assert.deepEqual([callsTo(path), callsTo(`${path}/child`)], [1, 1]);
      const [before] = await childOf(failed.runId);
      const [after] = await childOf(resumed.runId);
      assert.equal(after!.resumed_from, before!.id);
      const [below] = await childOf(after!.id);
      const run = (await api.get<RunRecord>(`/runs/${below!.id}/`)).body;
      assert.deepEqual([run.status, run['parent_node_id']], ['Succeeded', middle.id]);
    });

    it('one that is chosen begins anew, and so does one in a body', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}`), mended()])));
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call]);
      const resumed = await world.resumeToEnd(failed, { from: [call.id] });
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(callsTo(path), 2);
      assert.equal((await childOf(resumed.runId))[0]!.resumed_from, null);
    });

    it('one whose run succeeded before its own run was stopped takes that run over', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}`)])));
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call, mended()]);
      const lose = `UPDATE node_results SET status = 'failed', error_code = 'cancelled', result = NULL
        WHERE run_id = $1 AND node_id = $2`;
      await queryDatabase(stack, lose, [failed.runId, call.id]);
      const resumed = await world.resumeToEnd(failed);
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(callsTo(path), 1);
      assert.equal(resumed.nodes[call.id]!.result!['run_id'], (await childOf(failed.runId))[0]!.id);
    });

    it('outcome_unknown below is not repeated unless that is accepted', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(failsOnce(path), { method: 'POST' })])));
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call]);
      const [run] = await childOf(failed.runId);
      const lose = `UPDATE node_results SET error_code = 'outcome_unknown' WHERE run_id = $1 AND status = 'failed'`;
      await queryDatabase(stack, lose, [run!.id]);
      assert.equal(await world.refusalOf(failed), 'outcome_unknown');
      assert.equal(await world.refusalOf(failed, { from: [call.id] }), 'outcome_unknown');
      const resumed = await world.resumeToEnd(failed, { accept_unknown: true });
      assert.equal(resumed.status, 'succeed');
    });
  });

  it('waits and answered tasks are kept; a wait that was stopped begins anew', async () => {
    const [pause, ask] = [node('wait', { mode: 'callback' }), node('human', { message: 'Go on?' })];
    const last = node('set', { value: `${resultOf(pause)} ${resultOf(ask, 'action')}` });
    const tells = mended({ method: 'POST', body: `{{ ${pause.id}.callback_url }}` });
    const workflowId = await world.workflowOf(drawing(linkInRow([trigger(), pause, ask, tells, last])));
    const { data } = await api.run(workflowId);
    await callBack(await callbackUrlOf(api, data.id, pause.id), 'called');
    const task = await taskOf(api, data.id, ask.id);
    await api.post(`/human-tasks/${task}/answer/`, { body: { action: 'done' } });
    const end = await api.pollToEnd(data.id);
    assert.equal(end.data.status, 'failed');
    const failed = { workflowId, runId: data.id, status: 'failed', nodes: end.data.data ?? {} };
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.nodes[last.id]!.result!.content, 'called done', JSON.stringify(resumed.nodes));
    const told = target.requestsTo(new URL(String(tells.data['url'])).pathname).map(({ body }) => body);
    assert.notEqual(told[0], told[1], 'each run has an address of its own');
    const again = await world.resume(resumed, { body: { from: [pause.id] } });
    await callBack(await callbackUrlOf(api, again.body.data.id, pause.id), 'again');
    const secondTask = await taskOf(api, again.body.data.id, ask.id);
    assert.notEqual(secondTask, task);
    await api.post(`/human-tasks/${secondTask}/answer/`, { body: { action: 'done' } });
    assert.equal((await api.pollToEnd(again.body.data.id)).data.data![last.id]!.result!.content, 'again done');
  });
});
