// Refusals that keep a resumed run from doing something twice (docs/use/resume.md).
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiClient } from '../../../../harness/client/api-client.js';
import { eventually } from '../../../../harness/timing/eventually.js';
import { agent, drawing, http, link, linkInRow, node, trigger } from '../../../../harness/drawing/drawing.js';
import type { Drawing, DrawingNode } from '../../../../harness/drawing/drawing.js';
import type { HttpTarget } from '../../../../harness/target/http-target.js';
import { queryDatabase } from '../../../support/inspect.js';
import type { TestStack } from '../../../../harness/stack/stack.js';
import { startToolServer } from '../../../../harness/target/tool-server.js';
import { openResumeWorld, type EndedRun, type ResumeWorld } from './resume-world.js';

describe('resume does nothing twice', function () {
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

  /** Two parallel nodes: the first call of one hangs, and the other one fails once this call is in flight. */
  function hangingBesideFailing(method: string): { data: Drawing; path: string } {
    const [path, fails] = [`/${randomUUID()}`, `/${randomUUID()}`];
    target.on(path, () => ({ body: 'ok', delayMs: world.callsTo(path) === 1 ? 20_000 : 0 }));
    target.on(fails, [{ status: 418, after: [path] }, { body: 'ok' }]);
    const start = trigger();
    const nodes = [http(`${target.url}${path}`, { method }), http(`${target.url}${fails}`)];
    link(start, nodes);
    return { data: drawing([start, ...nodes]), path };
  }

  /** Starts a run, and cancels it once `isReady` returns true. */
  async function cancelled(data: object, isReady: () => boolean): Promise<EndedRun> {
    const workflowId = await world.workflowOf(data);
    const { data: run } = await api.run(workflowId);
    await eventually(isReady);
    await api.post(`/workflows/${workflowId}/history/${run.id}/cancel/`);
    const { status, data: nodes } = (await api.pollToEnd(run.id)).data;
    return { workflowId, runId: run.id, status, nodes: nodes ?? {} };
  }

  async function assertUnknown(run: EndedRun, count: () => number): Promise<void> {
    assert.equal(await world.refusalOf(run), 'outcome_unknown');
    assert.equal(count(), 1);
    const resumed = await world.resumeToEnd(run, { accept_unknown: true });
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(count(), 2);
  }

  it('a POST that was on the wire when another branch failed is not sent again unless that is accepted', async () => {
    const { data, path } = hangingBesideFailing('POST');
    const failed = await world.runToEnd(data);
    assert.equal(world.callsTo(path), 1, 'it was on the wire');
    await assertUnknown(failed, () => world.callsTo(path));
  });

  it('a GET that was on the wire is repeated', async () => {
    const { data, path } = hangingBesideFailing('GET');
    const failed = await world.runToEnd(data);
    const resumed = await world.resumeToEnd(failed);
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(world.callsTo(path), 2);
  });

  it('a POST that was refused with a status, or never reached the other side, is repeated', async () => {
    const path = `/${randomUUID()}`;
    target.on(path, [{ status: 418 }, { body: 'ok' }]);
    const refused = await world.runRow([http(`${target.url}${path}`, { method: 'POST' })]);
    assert.equal((await world.resumeToEnd(refused)).status, 'succeed');
    const unreached = await world.runRow([http('http://127.0.0.1:1/', { method: 'POST', retry: { max_attempts: 1 } })]);
    assert.equal((await world.resumeToEnd(unreached)).status, 'failed');
  });

  it('a POST that timed out is not sent again, even if its error was handled and a resumed run reused it', async () => {
    const path = `/${randomUUID()}`;
    target.on(path, () => ({ body: 'ok', delayMs: world.callsTo(path) === 1 ? 120_000 : 0 }));
    const fails = `/${randomUUID()}`;
    target.on(fails, [{ status: 418 }, { body: 'ok' }]);
    const slow = http(`${target.url}${path}`, { method: 'POST', settings: { timeout: 4 }, on_error: 'continue' });
    const failed = await world.runRow([slow, http(`${target.url}${fails}`)]);
    assert.equal(failed.nodes[slow.id]!.error?.code, 'timeout', JSON.stringify(failed.nodes));
    const resumed = await world.resumeToEnd(failed);
    assert.deepEqual([resumed.status, resumed.nodes[slow.id]!.reused], ['succeed', true]);
    assert.equal(await world.refusalOf(resumed, { from: [slow.id] }), 'outcome_unknown');
    const again = await world.resumeToEnd(resumed, { from: [slow.id], accept_unknown: true });
    assert.equal(again.status, 'succeed');
    assert.equal(world.callsTo(path), 2);
    assert.equal((await world.resumeToEnd(again, { from: [slow.id] })).status, 'succeed', 'it was answered');
  });

  it('a POST in a child run or in an iteration of a loop is not sent again either', async () => {
    const below = hangingBesideFailing('POST');
    const call = node('workflow', { workflow_id: await world.workflowOf(below.data) });
    await assertUnknown(await world.runRow([call]), () => world.callsTo(below.path));
    const path = `/${randomUUID()}`;
    target.on(path, () => ({ body: 'ok', delayMs: world.callsTo(path) === 1 ? 20_000 : 0 }));
    const body = http(`${target.url}${path}`, { method: 'POST' });
    const each = node('for_each', { items: [1], body_node: body.id });
    const start = trigger();
    link(start, each);
    await assertUnknown(await cancelled(drawing([start, each, body]), () => world.callsTo(path) === 1), () =>
      world.callsTo(path),
    );
  });

  it("an agent's tool call that was on the wire is not made again unless that is accepted", async () => {
    const tools = await startToolServer();
    const model = `agent-${randomUUID()}`;
    const calls = { toolCalls: [{ name: 'slow', arguments: { ms: 4_000 } }] };
    stack.modelProvider.script(model, [calls, calls, { text: 'done' }]);
    const asks: DrawingNode = agent('go', { model_name: model }, [
      { endpoint_url: tools.url, require_approval: 'never' },
    ]);
    const count = (): number => tools.callsOf('slow').length;
    const run = await cancelled(drawing(linkInRow([trigger(), asks])), () => count() === 1);
    await assertUnknown(run, count);
    await tools.close();
  });

  it("an agent's tool calls that were answered do not prevent a resume", async () => {
    const tools = await startToolServer();
    const model = `agent-${randomUUID()}`;
    const calls = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] };
    stack.modelProvider.script(model, [calls, { status: 400 }, { text: 'done' }]);
    const asks = agent('go', { model_name: model }, [{ endpoint_url: tools.url, require_approval: 'never' }]);
    const resumed = await world.resumeToEnd(await world.runRow([asks]));
    assert.equal(resumed.status, 'succeed', JSON.stringify(resumed.nodes));
    assert.equal(tools.callsOf('add').length, 1);
    await tools.close();
  });

  it('run_open while a child run in the body of a loop has not ended', async () => {
    const path = `/${randomUUID()}`;
    const below = await world.workflowOf(drawing(linkInRow([trigger(), http(`${target.url}${path}`)])));
    const body = node('workflow', { workflow_id: below });
    const each = node('for_each', { items: [1], body_node: body.id });
    const start = trigger();
    link(start, each);
    target.on(path, () => ({ body: 'ok', delayMs: world.callsTo(path) === 1 ? 20_000 : 0 }));
    const run = await cancelled(drawing([start, each, body]), () => world.callsTo(path) === 1);
    const [child] = await queryDatabase<{ id: string }>(stack, 'SELECT id FROM runs WHERE parent_run_id = $1', [
      run.runId,
    ]);
    const isEnded = `SELECT FROM runs WHERE id = $1 AND status = 'Cancelled'`;
    await eventually(async () => (await queryDatabase(stack, isEnded, [child!.id])).length === 1);
    // Simulates the moment at which the run has ended and its child run has not.
    const open = `UPDATE runs SET status = 'In Progress', run_finished_at = NULL WHERE id = $1`;
    await queryDatabase(stack, open, [child!.id]);
    assert.equal(await world.refusalOf(run), 'run_open');
    const end = `UPDATE runs SET status = 'Cancelled', run_finished_at = now() WHERE id = $1`;
    await queryDatabase(stack, end, [child!.id]);
    assert.equal((await world.resumeToEnd(run)).status, 'succeed');
    assert.equal(world.callsTo(path), 2);
  });
});
