import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import {
  condition,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import {
  activitiesOf,
  cancelRun,
  giveUpOn,
  historyOf,
  reset,
  transactionsOf,
  withTemporal,
} from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

/** For calls that the target does not answer: longer than the test. */
const HELD = { settings: { timeout: 300 } };

// Dense execution: an activity goes on through consecutive requests (docs/adr/0011-one-walk.md).
describe('nodes in a row', function () {
  this.timeout(120_000);
  let target: HttpTarget;
  let stack: TestStack;
  let api: ApiClient;

  before(async () => {
    [target, stack] = await Promise.all([startHttpTarget(), startStack({ env: { EXECUTION: 'dense' } })]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  after(async () => {
    await stack.stop();
    await target.close();
  });

  async function startRun(nodes: DrawingNode[]): Promise<string> {
    const workflowId = await api.createWorkflow(await api.createProject(), drawing(linkInRow(nodes)));
    return (await api.run(workflowId)).data.id;
  }

  const post = (path: string, data: Record<string, unknown> = {}): DrawingNode =>
    http(`${target.url}/${path}`, { method: 'POST', body: {}, ...data });
  const callsTo = (...paths: string[]): number[] => paths.map((path) => target.requestsTo(`/${path}`).length);

  it('share one activity from the trigger to the end, of the kind and id of the first call', async () => {
    const first = post('one');
    const judge = condition(`{{ ${first.id}.result.status_code }}`, '==', '200');
    const runId = await startRun([trigger(), first, http(`${target.url}/two`), post('three'), judge]);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual(await activitiesOf(stack, runId), { local: [], normal: ['httpRequest'] });
    const scheduled = (await historyOf(stack, runId)).find(({ type }) => type === 'activityTaskScheduled')!;
    assert.ok(scheduled.text.includes(first.id));
    assert.deepEqual(callsTo('one', 'two', 'three'), [1, 1, 1]);
    assert.equal((await transactionsOf(stack, runId)).length, 5);
  });

  it('go the way that a condition takes, and skip the other', async () => {
    const runs = [true, false].map(async (isTrue) => {
      const path = `went-${isTrue}`;
      const first = post(`${path}/first`);
      const choice = condition(`{{ ${first.id}.result.status_code }}`, isTrue ? '==' : '!=', '200');
      const [yes, no, last] = [post(`${path}/yes`), post(`${path}/no`), http(`${target.url}/${path}/last`)];
      const start = trigger();
      link(start, first);
      link(first, choice);
      link(choice, yes, 'true');
      link(choice, no, 'false');
      link(isTrue ? yes : no, last);
      const workflowId = await api.createWorkflow(
        await api.createProject(),
        drawing([start, first, choice, yes, no, last]),
      );
      const { data } = await api.run(workflowId);
      const end = (await api.pollToEnd(data.id)).data;
      assert.equal(end.status, 'succeed');
      assert.equal(end.data![(isTrue ? no : yes).id], undefined);
      assert.deepEqual(callsTo(...['first', 'yes', 'no', 'last'].map((at) => `${path}/${at}`)), [1, Number(isTrue), Number(!isTrue), 1]); // prettier-ignore
      assert.deepEqual(await activitiesOf(stack, data.id), { local: [], normal: ['httpRequest'] });
      assert.equal((await transactionsOf(stack, data.id)).length, 5);
    });
    await Promise.all(runs);
  });

  it('fail, and are tried again, after a condition as before it', async () => {
    const after = async (path: string): Promise<{ runId: string; node: DrawingNode; last: DrawingNode }> => {
      const [start, choice, other] = [trigger(), condition('1', '==', '2'), post(`beside-${path}`)];
      const first = post(`before-${path}`);
      const [node, last] = [http(`${target.url}/${path}`), post(`behind-${path}`)];
      link(start, first);
      link(first, choice);
      link(choice, other, 'true');
      link(choice, node, 'false');
      link(node, last);
      const all = [start, first, choice, other, node, last];
      const workflowId = await api.createWorkflow(await api.createProject(), drawing(all));
      return { runId: (await api.run(workflowId)).data.id, node, last };
    };
    target.on('/mended', [{ status: 503, headers: { 'retry-after': '1' } }, { body: 'mended' }]);
    const [failed, mended] = await Promise.all([after('status/404/after'), after('mended')]);
    const end = (await api.pollToEnd(failed.runId)).data;
    assert.deepEqual([end.status, end.data![failed.node.id]!.error!.code], ['failed', 'http_status']);
    assert.equal((await api.pollToEnd(mended.runId, { timeoutMs: 20_000 })).data.status, 'succeed');
    assert.deepEqual(callsTo('before-mended', 'beside-mended', 'mended', 'behind-mended'), [1, 0, 2, 1]);
    assert.deepEqual((await activitiesOf(stack, mended.runId)).normal, ['httpRequest', 'httpRequest']);
  });

  it('a model call begins an activity of its own, which walks on', async () => {
    const runId = await startRun([trigger(), post('before-model'), llm('hello'), post('after-model')]);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest', 'llmRequest']);
  });

  it('one that still runs 10 s after the first one ended runs to its end; what follows it has another activity', async () => {
    const runId = await startRun([trigger(), post('quick'), post('delay/10200/slow'), post('after-slow')]);
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest', 'httpRequest']);
    assert.deepEqual(callsTo('quick', 'delay/10200/slow', 'after-slow'), [1, 1, 1]);
  });

  it('a failure in the middle fails the run, its node keeps its error code, and nothing after it begins', async () => {
    const fails = post('status/404/fails');
    const runId = await startRun([trigger(), post('fine'), fails, post('never')]);
    const { status, data } = (await api.pollToEnd(runId)).data;
    assert.equal(status, 'failed');
    assert.equal(data![fails.id]!.error!.code, 'http_status');
    assert.deepEqual(callsTo('fine', 'status/404/fails', 'never'), [1, 1, 0]);
    assert.equal((await transactionsOf(stack, runId)).length, 3);
  });

  it('the attempts of a later node are counted across its activities, and what is before it is not called again', async () => {
    target.on('/never-mended', [{ status: 503 }]);
    const hopeless = http(`${target.url}/never-mended`);
    const runId = await startRun([trigger(), post('before-hopeless'), hopeless]);
    const { status, data } = (await api.pollToEnd(runId, { timeoutMs: 60_000 })).data;
    assert.equal(status, 'failed');
    assert.equal(data![hopeless.id]!.error!.code, 'http_status');
    assert.deepEqual(callsTo('before-hopeless', 'never-mended'), [1, 4]);
  });

  it('Retry-After is obeyed between two activities', async () => {
    target.on('/later', [{ status: 429, headers: { 'retry-after': '2' } }, { body: 'now' }]);
    const runId = await startRun([trigger(), post('before-later'), http(`${target.url}/later`), post('after-later')]);
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    const [first, second] = target.requestsTo('/later');
    assert.ok(second!.receivedAt - first!.receivedAt >= 1_900, `${second!.receivedAt - first!.receivedAt} ms`);
    assert.deepEqual(callsTo('before-later', 'later', 'after-later'), [1, 2, 1]);
  });

  it('a cancel cuts the call in flight and begins no other', async () => {
    // This call is never answered, so only the cancel can end it before its time limit.
    const cut = post('hold/cancelled', HELD);
    const runId = await startRun([trigger(), post('before-cancel'), cut, post('not-begun')]);
    await eventually(() => target.requestsTo('/hold/cancelled').length === 1);
    await cancelRun(stack, runId);
    const { status, data } = (await api.pollToEnd(runId)).data;
    assert.deepEqual([status, data![cut.id]!.error!.code], ['failed', 'cancelled']);
    assert.deepEqual(callsTo('before-cancel', 'hold/cancelled', 'not-begun'), [1, 1, 0]);
    await eventually(() => target.requestsTo('/hold/cancelled')[0]!.aborted);
  });

  it('if Temporal times out the activity, the node under way fails with timeout, and those before it stay succeeded', async () => {
    const [first, hangs] = [post('before-given-up'), http(`${target.url}/delay/60000/given-up`)];
    const runId = await startRun([trigger(), first, hangs, post('after-given-up')]);
    await eventually(() => callsTo('delay/60000/given-up')[0] === 1);
    await giveUpOn(stack, runId, first.id);
    const { status, data } = (await api.pollToEnd(runId, { timeoutMs: 30_000 })).data;
    assert.equal(status, 'failed');
    assert.deepEqual([data![first.id]!.status, data![hangs.id]!.error!.code], ['succeed', 'timeout']);
    assert.deepEqual(callsTo('before-given-up', 'after-given-up'), [1, 0]);
  });

  it('a finished run that is begun once more finds all it has done, calls nothing, and ends as it did', async () => {
    const [one, two] = [post('reset-one'), http(`${target.url}/reset-two`)];
    const runId = await startRun([trigger(), one, two, condition('1', '==', '1')]);
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    await reset(stack, runId);
    assert.deepEqual(callsTo('reset-one', 'reset-two'), [1, 1]);
    assert.equal((await transactionsOf(stack, runId)).length, 4);
  });

  it('after kill -9 of the worker what is recorded is not called again, and a POST that may have been made fails', async () => {
    const fine = Array.from({ length: 3 }, (_, index) => post(`killed-${index}`));
    // The calls in flight are not answered before the kill.
    const unanswered = { until: new Promise<never>(() => undefined) };
    target.on('/killed-get', [unanswered, { body: 'ok' }]);
    target.on('/killed-unsure', unanswered);
    const get = http(`${target.url}/killed-get`, HELD);
    const unsure = post('killed-unsure', HELD);
    const [repeated, failed] = await Promise.all([
      startRun([trigger(), ...fine, get, post('killed-last')]),
      startRun([trigger(), post('killed-other'), unsure, post('killed-never')]),
    ]);
    await eventually(() => callsTo('killed-get', 'killed-unsure').join() === '1,1');
    process.kill(stack.stack.pids.worker!, 'SIGKILL');
    assert.equal((await api.pollToEnd(repeated, { timeoutMs: 60_000 })).data.status, 'succeed');
    // A dead worker is noticed after 10 s without a heartbeat, and its nodes are attempted again 1 s later.
    const { events } = await withTemporal(stack, (client) => client.workflow.getHandle(repeated).fetchHistory());
    const calls = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => scheduled ?? []);
    for (const { heartbeatTimeout, retryPolicy } of calls) {
      assert.deepEqual([Number(heartbeatTimeout?.seconds), Number(retryPolicy?.initialInterval?.seconds)], [10, 1]);
    }
    assert.ok(calls.length > 0);
    const end = (await api.pollToEnd(failed, { timeoutMs: 60_000 })).data;
    assert.deepEqual([end.status, end.data![unsure.id]!.error!.code], ['failed', 'outcome_unknown']);
    assert.deepEqual(callsTo('killed-0', 'killed-1', 'killed-2', 'killed-last'), [1, 1, 1, 1]);
    assert.deepEqual(callsTo('killed-get', 'killed-other', 'killed-unsure', 'killed-never'), [2, 1, 1, 0]);
    assert.equal((await transactionsOf(stack, repeated)).length, 6);
  });
});
