import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { createGate } from '../../harness/timing/gate.js';
import {
  drawing,
  fanOut,
  http,
  link,
  resultOf,
  trigger,
  type Drawing,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { activitiesOf, cancelRun, giveUpOn, historyOf, reset, transactionsOf } from '../support/inspect.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';

let target: HttpTarget;
let stack: TestStack;
let api: ApiClient;

function useStack(env: Record<string, string>): void {
  before(async () => {
    [target, stack] = await Promise.all([startHttpTarget(), startStack({ env })]);
    api = createApiClient(stack.apiUrl, stack.apiKey);
  });

  after(async () => {
    await stack.stop();
    await target.close();
  });
}

async function start(graph: Drawing): Promise<string> {
  const workflowId = await api.createWorkflow(await api.createProject(), graph);
  return (await api.run(workflowId)).data.id;
}

/** For calls that the target does not answer: longer than the test. */
const HELD = { settings: { timeout: 300 } };
const get = (path: string, data: object = {}): DrawingNode => http(`${target.url}/${path}`, { ...data });
const post = (path: string, data: object = {}): DrawingNode =>
  http(`${target.url}/${path}`, { method: 'POST', body: {}, ...data });
const callsTo = (...paths: string[]): number[] => paths.map((path) => target.requestsTo(`/${path}`).length);
/** A trigger, these nodes side by side, and a node that waits for all of them. */
const gathered = (nodes: DrawingNode[], join?: DrawingNode): Drawing =>
  fanOut(nodes.length, (index) => nodes[index]!, join);

/** docs/adr/0011-one-walk.md: nodes that lead to the same next node start in one activity. */
describe('nodes side by side', function () {
  this.timeout(120_000);
  useStack({ EXECUTION: 'dense' });

  it('share one activity with what waits for them all and the end of the run, and are called at once', async () => {
    // None of them is answered before all are called.
    const paths = ['/slow', '/other', '/fine'];
    for (const path of paths) target.on(path, { after: paths });
    const [slow, ...others] = [get('slow'), post('other'), get('fine')];
    const join = http(`${target.url}/join?after={{ ${slow.id}.result.status_code }}`);
    const runId = await start(gathered([slow, ...others], join));
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual(await activitiesOf(stack, runId), { local: [], normal: ['httpRequest'] });
    const scheduled = (await historyOf(stack, runId)).find(({ type }) => type === 'activityTaskScheduled')!;
    assert.ok(scheduled.text.includes(slow.id));
    assert.equal(target.requestsTo('/join')[0]!.query['after'], '200');
    assert.deepEqual(callsTo('slow', 'other', 'fine', 'join'), [1, 1, 1, 1]);
    assert.equal((await transactionsOf(stack, runId)).length, 5);
  });

  it('are ten at most, and what waits for more has an activity of its own', async () => {
    const runId = await start(
      gathered(
        Array.from({ length: 12 }, () => get('many')),
        get('after-many'),
      ),
    );
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest', 'httpRequest', 'httpRequest']);
    assert.deepEqual(callsTo('many', 'after-many'), [12, 1]);
  });

  it('have their own activities where another node follows each, which so does not wait for the others', async () => {
    const [quick, slow, afterQuick, afterSlow] = [get('apart'), get('delay/3000/apart'), get('soon'), get('late')];
    link(quick, afterQuick);
    link(slow, afterSlow);
    const first = trigger();
    link(first, [quick, slow]);
    const runId = await start(drawing([first, quick, slow, afterQuick, afterSlow]));
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    const [soon, late] = ['/soon', '/late'].map((path) => target.requestsTo(path)[0]!);
    assert.ok(late!.receivedAt - soon!.receivedAt > 2_000);
    assert.deepEqual((await activitiesOf(stack, runId)).normal, ['httpRequest', 'httpRequest']);
  });

  it('the first that fails ends the run, the others are cut and marked as cancelled', async () => {
    const isDone = createGate();
    target.on('/fails', { status: 404, after: ['/hold/cut'], until: isDone.opened });
    const [done, fails, cut] = [get('done'), get('fails', HELD), get('hold/cut', HELD)];
    const runId = await start(gathered([done, cut, fails], get('not-joined')));
    await eventually(async () => (await transactionsOf(stack, runId)).some(({ node_id: id }) => id === done.id));
    isDone.open();
    const { status, data } = (await api.pollToEnd(runId)).data;
    assert.equal(status, 'failed');
    assert.equal(data![done.id]!.status, 'succeed');
    assert.deepEqual(
      [fails, cut].map(({ id }) => data![id]!.error!.code),
      ['http_status', 'cancelled'],
    );
    assert.deepEqual(callsTo('done', 'fails', 'hold/cut', 'not-joined'), [1, 1, 1, 0]);
    assert.equal((await transactionsOf(stack, runId)).length, 4);
    await eventually(() => target.requestsTo('/hold/cut')[0]!.aborted);
  });

  it('one that has to be tried again is called again alone, and the others are called once', async () => {
    target.on('/again', [{ status: 503, headers: { 'retry-after': '2' } }, { body: 'mended' }]);
    const again = get('again');
    const join = http(`${target.url}/joined`, { method: 'POST', body: resultOf(again) });
    const runId = await start(gathered([post('beside-again'), again, get('beside-too')], join));
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    const [first, second] = target.requestsTo('/again');
    assert.ok(second!.receivedAt - first!.receivedAt >= 1_900, `${second!.receivedAt - first!.receivedAt} ms`);
    assert.deepEqual(callsTo('beside-again', 'again', 'beside-too', 'joined'), [1, 2, 1, 1]);
    assert.equal(target.requestsTo('/joined')[0]!.body, 'mended');
  });

  it('one whose tries are used up fails its run, however many are tried again', async () => {
    for (const path of ['/never', '/ever']) target.on(path, [{ status: 503, headers: { 'retry-after': '0' } }]);
    const runId = await start(gathered([get('never'), get('ever'), get('beside-never')]));
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 60_000 })).data.status, 'failed');
    const [never, ever, fine] = callsTo('never', 'ever', 'beside-never');
    assert.ok(Math.max(never!, ever!) === 4 && fine === 1, `${never} ${ever} ${fine}`);
  });

  it('what follows them fails with its own words', async () => {
    const last = get('status/404/last');
    const runId = await start(gathered([get('one-before'), get('two-before')], last));
    const { status, data } = (await api.pollToEnd(runId)).data;
    assert.deepEqual([status, data![last.id]!.error!.code], ['failed', 'http_status']);
    assert.deepEqual(callsTo('one-before', 'two-before', 'status/404/last'), [1, 1, 1]);
    assert.equal((await transactionsOf(stack, runId)).length, 4);
  });

  it('a cancel cuts all of them', async () => {
    const nodes = ['a', 'b'].map((name) => get(`delay/30000/cancelled-${name}`));
    const runId = await start(gathered(nodes));
    const paths = ['delay/30000/cancelled-a', 'delay/30000/cancelled-b'];
    await eventually(() => callsTo(...paths).join() === '1,1');
    await cancelRun(stack, runId);
    const { status, data } = (await api.pollToEnd(runId, { timeoutMs: 30_000 })).data;
    assert.equal(status, 'failed');
    assert.deepEqual(
      nodes.map(({ id }) => data![id]!.error!.code),
      ['cancelled', 'cancelled'],
    );
    await eventually(() => paths.every((path) => target.requestsTo(`/${path}`)[0]!.aborted));
  });

  it('one that Temporal gives up on is what its run fails with', async () => {
    const [fine, hangs] = [get('before-given-up'), get('delay/60000/given-up')];
    const runId = await start(gathered([fine, hangs]));
    await eventually(() => callsTo('delay/60000/given-up')[0] === 1);
    await giveUpOn(stack, runId, fine.id);
    const { status, data } = (await api.pollToEnd(runId, { timeoutMs: 30_000 })).data;
    assert.equal(status, 'failed');
    assert.deepEqual([data![fine.id]!.status, data![hangs.id]!.error!.code], ['succeed', 'timeout']);
  });

  it('a finished run that is begun once more finds all they have done, and calls nothing', async () => {
    const runId = await start(gathered([post('reset-one'), get('reset-two')], get('reset-join')));
    assert.equal((await api.pollToEnd(runId)).data.status, 'succeed');
    await reset(stack, runId);
    assert.deepEqual(callsTo('reset-one', 'reset-two', 'reset-join'), [1, 1, 1]);
    assert.equal((await transactionsOf(stack, runId)).length, 4);
  });

  it('after kill -9 of the worker those that are done are not called again, and a POST that may have been made fails', async () => {
    // The calls in flight are not answered before the kill.
    const unanswered = { until: new Promise<never>(() => undefined) };
    target.on('/killed-get', [unanswered, { body: 'ok' }]);
    target.on('/killed-unsure', unanswered);
    const unsure = post('killed-unsure', HELD);
    const [repeated, failed] = await Promise.all([
      start(gathered([post('killed-one'), get('killed-get', HELD), post('killed-two')], post('killed-join'))),
      start(gathered([post('killed-other'), unsure], post('killed-never'))),
    ]);
    const held = ['killed-get', 'killed-unsure', 'killed-one', 'killed-two', 'killed-other'];
    await eventually(() => callsTo(...held).join() === '1,1,1,1,1');
    await eventually(async () => (await transactionsOf(stack, repeated)).length === 3);
    await eventually(async () => (await transactionsOf(stack, failed)).length === 2);
    process.kill(stack.stack.pids.worker!, 'SIGKILL');
    assert.equal((await api.pollToEnd(repeated, { timeoutMs: 60_000 })).data.status, 'succeed');
    const end = (await api.pollToEnd(failed, { timeoutMs: 60_000 })).data;
    assert.deepEqual([end.status, end.data![unsure.id]!.error!.code], ['failed', 'outcome_unknown']);
    assert.deepEqual(callsTo(...held, 'killed-join', 'killed-never'), [2, 1, 1, 1, 1, 1, 0]);
    assert.equal((await transactionsOf(stack, repeated)).length, 5);
  });
});

describe('a worker of three slots', function () {
  this.timeout(120_000);
  useStack({ EXECUTION: 'dense', WORKER_ACTIVITY_SLOTS: '3' });

  it('executes three nodes of those side by side at once, and no more', async () => {
    const { opened, open } = createGate();
    let [underWay, most] = [0, 0];
    target.on('/crowd', () => {
      underWay += 1;
      most = Math.max(most, underWay);
      const until = opened.then(() => pause(100)).then(() => (underWay -= 1));
      return { until };
    });
    const runId = await start(gathered(Array.from({ length: 8 }, () => get('crowd'))));
    await eventually(() => underWay === 3);
    open();
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    const times = target
      .requestsTo('/crowd')
      .map(({ receivedAt }) => receivedAt)
      .toSorted((a, b) => a - b);
    assert.deepEqual([times.length, most], [8, 3]);
    const { normal } = await activitiesOf(stack, runId);
    // On a machine so slow that a node has waited for a second, the rest goes to further activities.
    const isQuick = times.at(-1)! - times[0]! < 1_000;
    assert.deepEqual(isQuick ? normal : [...new Set(normal)], ['httpRequest']);
  });

  it('leaves to others what finds no slot within a second', async () => {
    const runId = await start(
      gathered(
        Array.from({ length: 5 }, () => get('delay/1500/crowd')),
        get('after-crowd'),
      ),
    );
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 30_000 })).data.status, 'succeed');
    assert.deepEqual(callsTo('delay/1500/crowd', 'after-crowd'), [5, 1]);
    assert.equal((await activitiesOf(stack, runId)).normal.length, 2);
  });

  it('begins nothing of what waits for a slot when the run is cancelled', async () => {
    const runId = await start(gathered(Array.from({ length: 6 }, () => get('delay/30000/waiting'))));
    await eventually(() => callsTo('delay/30000/waiting')[0] === 3);
    await cancelRun(stack, runId);
    assert.equal((await api.pollToEnd(runId, { timeoutMs: 15_000 })).data.status, 'failed');
    assert.deepEqual(callsTo('delay/30000/waiting'), [3]);
  });
});
