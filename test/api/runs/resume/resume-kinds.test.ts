// The results that each kind of node reuses when its run is resumed (docs/use/resume.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient, RunRecord } from '../../../../harness/client/api-client.js';
import { agent, drawing, http, linkInRow, node, resultOf, trigger } from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { startToolServer } from '../../../../harness/target/tool-server.js';
import { callBack, callbackUrlOf, taskOf } from '../../../support/waiting.js';
import { openResumeWorld, type ResumeWorld } from './resume-world.js';

describe('what is kept when a run is resumed', function () {
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

    it('one whose child run failed starts a run that resumes the failed one, at any depth', async () => {
      const path = `/${randomUUID()}`;
      const [once, fails] = [http(`${target.url}${path}`), world.failsFirst()];
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
      assert.deepEqual([world.callsTo(path), world.callsTo(`${path}/child`)], [1, 1]);
      const [before] = await childOf(failed.runId);
      const [after] = await childOf(resumed.runId);
      assert.equal(after!.resumed_from, before!.id);
      const [below] = await childOf(after!.id);
      const run = (await api.get<RunRecord>(`/runs/${below!.id}/`)).body;
      assert.deepEqual([run.status, run['parent_node_id']], ['Succeeded', middle.id]);
    });

    it('one that is chosen in `from` starts a new run', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(
        drawing(linkInRow([trigger(), http(`${target.url}${path}`), world.failsFirst()])),
      );
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call]);
      const resumed = await world.resumeToEnd(failed, { from: [call.id] });
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(world.callsTo(path), 2);
      assert.equal((await childOf(resumed.runId))[0]!.resumed_from, null);
    });

    it('one whose child run succeeded before the parent was cancelled reuses that child run', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}`)])));
      const call = node('workflow', { workflow_id: child });
      const failed = await world.runRow([call, world.failsFirst()]);
      const lose = `UPDATE node_results SET status = 'failed', error_code = 'cancelled', result = NULL
        WHERE run_id = $1 AND node_id = $2`;
      await queryDatabase(stack, lose, [failed.runId, call.id]);
      const resumed = await world.resumeToEnd(failed);
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(world.callsTo(path), 1);
      assert.equal(resumed.nodes[call.id]!.result!['run_id'], (await childOf(failed.runId))[0]!.id);
    });

    it('one that is not waited for is not started twice if its node was cancelled after the start', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}`)])));
      const call = node('workflow', { workflow_id: child, wait: false });
      const failed = await world.runRow([call, world.failsFirst()]);
      const lose = `UPDATE node_results SET status = 'failed', error_code = 'cancelled', result = NULL
        WHERE run_id = $1 AND node_id = $2`;
      await queryDatabase(stack, lose, [failed.runId, call.id]);
      const resumed = await world.resumeToEnd(failed);
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      const [run] = await childOf(failed.runId);
      assert.equal(resumed.nodes[call.id]!.result!['run_id'], run!.id);
      assert.deepEqual(await childOf(resumed.runId), []);
      await api.pollToEnd(run!.id);
      assert.equal(world.callsTo(path), 1);
    });

    it('one whose child run was cancelled after all its nodes had ended executes none of them again', async () => {
      const path = `/${randomUUID()}`;
      const call = http(`${target.url}${path}`);
      const child = await world.workflowOf(drawing(linkInRow([trigger(), call])));
      const sub = node('workflow', { workflow_id: child });
      const failed = await world.runRow([sub, world.failsFirst(), node('set', { value: resultOf(sub, 'output') })]);
      const [run] = await childOf(failed.runId);
      const lose = `UPDATE node_results SET status = 'failed', error_code = 'child_failed', result = NULL
        WHERE run_id = $1 AND node_id = $2`;
      await queryDatabase(stack, lose, [failed.runId, sub.id]);
      await queryDatabase(stack, `UPDATE runs SET status = 'Cancelled' WHERE id = $1`, [run!.id]);
      const resumed = await world.resumeToEnd(failed);
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      assert.equal(world.callsTo(path), 1);
      const [after] = await childOf(resumed.runId);
      assert.equal(after!.resumed_from, run!.id);
      assert.match(resumed.nodes[sub.id]!.result!.content, new RegExp(path), 'it has the output of that run');
    });

    it('a child run can be resumed by itself, and the new run has no parent', async () => {
      const child = await world.workflowOf(drawing(linkInRow([trigger(), world.failsFirst()])));
      const failed = await world.runRow([node('workflow', { workflow_id: child })]);
      const [run] = await childOf(failed.runId);
      const resumed = await world.resumeToEnd({ ...failed, workflowId: child, runId: run!.id });
      assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
      const record = await api.history(child, resumed.runId);
      assert.deepEqual([record['parent_run_id'], record['resumed_from']], [null, run!.id]);
    });

    it('outcome_unknown in a child run is not repeated unless that is accepted', async () => {
      const path = `/${randomUUID()}`;
      const child = await world.workflowOf(
        drawing(linkInRow([trigger(), http(world.failsOnce(path), { method: 'POST' })])),
      );
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
    const tells = world.failsFirst({ method: 'POST', body: `{{ ${pause.id}.callback_url }}` });
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
