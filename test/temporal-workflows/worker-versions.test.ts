// The drill of docs/operate/upgrade.md: its commands, on a real server, with builds that cannot continue each other's
// runs.
import assert from 'node:assert/strict';
import { startApiProcess } from '../../harness/stack/api-process.js';
import { OPEN_RUNS, OpenRuns } from '../drills/open-runs.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, http, linkInRow, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { approvalsOf, decide } from '../support/agents.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { DEPLOYMENT, makeOtherBuild, WorkerBuilds, type OtherBuild } from '../support/worker-builds.js';
import { startWorkerProcess } from '../../harness/stack/worker-process.js';
import { wrapTemporal, type WrappedTemporal } from '../support/wrapped-temporal.js';

const LONG = { timeoutMs: 90_000, intervalMs: 100 };
/** The length of the waits for a time. They must still be open when their runs are moved, on a busy machine too. */
const OPEN_SECONDS = 40;
const OPEN = "ExecutionStatus = 'Running'";

describe('builds of the worker', function () {
  this.timeout(300_000);
  let temporal: WrappedTemporal;
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;
  let other: OtherBuild;
  let builds: WorkerBuilds;

  before(async () => {
    temporal = await wrapTemporal({
      'limit.historyCount.suggestContinueAsNew': 30,
      // The delay and the interval with which the server checks if a build has runs left; minutes by default.
      'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '2s',
      'matching.wv.VersionDrainageStatusRefreshInterval': '2s',
    });
    other = makeOtherBuild();
    stack = await startStack({ env: { TEMPORAL_CLI: temporal.file } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    builds = new WorkerBuilds(stack, temporal.binary);
    target = await startHttpTarget();
    tools = await startToolServer();
  });

  after(async () => {
    await builds.stopAll();
    await Promise.all([target.close(), tools.close()]);
    await stack.stop();
    temporal.remove();
    other.remove();
  });

  let models = 0;
  /** Starts a run whose agent waits for an approval. After it come enough nodes for further executions. */
  async function startWaiting() {
    const model = `versions-${++models}`;
    stack.modelProvider.script(model, [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'ok' }]);
    const work = agent('work', { model_name: model }, [{ endpoint_url: tools.url, require_approval: 'always' }]);
    const nodes = [trigger(), work, ...Array.from({ length: 6 }, () => http(`${target.url}/after`))];
    const { data } = await api.run(await api.createWorkflow(await api.createProject(), drawing(linkInRow(nodes))));
    const [request] = await approvalsOf(api, data.id, work.id);
    const end = async () => (await api.pollToEnd(data.id, LONG)).data.status;
    const approve = async () => {
      assert.equal((await decide(api, data.id, request!.request_id, 'approve')).body.status, 200);
    };
    return { runId: data.id, approve, end };
  }

  type Waiting = Awaited<ReturnType<typeof startWaiting>>;

  /** Approves, and checks that these builds executed all of the run's executions. */
  async function endsOn(run: Waiting, expected: string[][]): Promise<void> {
    await run.approve();
    assert.equal(await run.end(), 'succeed');
    const taken = await builds.of(run.runId);
    assert.deepEqual(taken.slice(0, expected.length), expected);
    assert.ok(taken.length >= 2, 'the run has gone on in a new execution');
    for (const later of taken.slice(1)) assert.deepEqual(later, expected.at(-1), 'it stayed where it was');
  }

  async function countOpen(query: string): Promise<number> {
    const { count } = await builds.operate('workflow', 'count', '--query', `${OPEN} AND ${query}`);
    return Number(count ?? 0);
  }

  /** Waits until visibility lists exactly so many open runs: it may list some of them before the others. */
  async function untilOpen(query: string, count: number): Promise<void> {
    await eventually(async () => (await countOpen(query)) === count, LONG);
  }

  async function drainageOf(buildId: string): Promise<string> {
    const version = ['--deployment-name', DEPLOYMENT, '--build-id', buildId];
    const answer = await builds.operate('worker', 'deployment', 'describe-version', ...version);
    return (answer['drainageInfo'] as { drainageStatus: string }).drainageStatus;
  }

  // These tests depend on each other: each continues from the state that those before it have left.
  let unversioned: Waiting[];
  let onFirst: Waiting;

  it('the first one gets nothing while unversioned runs are open, although it is ready, and names the command', async () => {
    unversioned = [await startWaiting()];
    await untilOpen('TemporalWorkerDeploymentVersion IS NULL', 1);
    const worker = await builds.start('1');
    assert.equal((await fetch(`${worker.url}/readyz`)).status, 200);
    await eventually(() => worker.output().includes('unversioned runs are open'), LONG);
    assert.ok(worker.output().includes('"npm run --silent admin -- deployment set-current 1"'));
    unversioned.push(await startWaiting());
    for (const { runId } of unversioned) assert.deepEqual(await builds.of(runId), [['unversioned']]);
    assert.deepEqual(await builds.makeCurrent('1'), [
      { build_id: '1', current: true, ramp_percent: 0, workers: 1, open_runs: 0 },
    ]);
    onFirst = await startWaiting();
    assert.deepEqual(await builds.of(onFirst.runId), [['1']]);
  });

  it('the current one takes over what unversioned workers began, at its next step, and keeps it', async () => {
    await endsOn(unversioned[0]!, [['unversioned', '1'], ['1']]);
    // A waiting run would continue on the build that is current when it wakes, so it is pinned to the first one
    // meanwhile.
    const asleep = 'TemporalWorkerDeploymentVersion IS NULL';
    await untilOpen(asleep, 1);
    await builds.move(['--query', `${OPEN} AND ${asleep}`], '1');
    await eventually(async () => {
      const { versioningInfo } = (await builds.operate('workflow', 'describe', '--workflow-id', unversioned[1]!.runId))[
        'workflowExecutionInfo'
      ] as { versioningInfo?: { versioningOverride?: unknown } };
      return versioningInfo?.versioningOverride !== undefined;
    }, LONG);
  });

  it('the next one gets new runs only: those of the one before stay on it, over continue-as-new too', async () => {
    const second = await builds.start('2', { dist: other.dist });
    await eventually(() => second.output().includes('another build is current'), LONG);
    await assert.rejects(builds.admin(['ramp', '2', '101']), /A number from 0 to 100/);
    const [ramped] = await builds.admin(['ramp', '2', '100']);
    assert.deepEqual([ramped!.build_id, ramped!.current, ramped!.ramp_percent], ['2', false, 100]);
    await endsOn(await startWaiting(), [['2']]);
    // The build that is current already is made so again to end the ramp.
    const back = await builds.makeCurrent('1');
    assert.deepEqual(
      back.map(({ build_id: id, current, ramp_percent: percent }) => [id, current, percent]),
      [
        ['2', false, 0],
        ['1', true, 0],
      ],
    );
    await endsOn(await startWaiting(), [['1']]);
    await builds.makeCurrent('2');
    await endsOn(await startWaiting(), [['2']]);
    await endsOn(onFirst, [['1']]);
    await endsOn(unversioned[1]!, [['unversioned', '1'], ['1']]);
    for (const { runId } of [onFirst, ...unversioned]) assert.equal(await builds.failedTasks(runId), 0);
  });

  it('one without runs is drained: its workers can be stopped', async () => {
    await eventually(async () => (await drainageOf('1')) === 'drained', LONG);
    await eventually(async () => {
      const first = (await builds.admin(['list'])).find(({ build_id: id }) => id === '1');
      return first?.open_runs === 0 && !first.current;
    }, LONG);
    assert.equal(await builds.stop('1'), 0);
  });

  it('one whose workers are gone has its runs wait, until a worker of it is back or they are moved', async () => {
    const [waits, moves] = [await startWaiting(), await startWaiting()];
    await builds.start('3', { dist: other.dist });
    await builds.makeCurrent('3');
    assert.equal(await builds.stop('2'), 0);
    for (const run of [waits, moves]) await run.approve();
    // An operator sees the runs of the build, and that no worker polls their pending workflow tasks.
    await untilOpen(`TemporalWorkerDeploymentVersion = '${DEPLOYMENT}:2'`, 2);
    const described = await eventually(async () => {
      const answer = await builds.operate('workflow', 'describe', '--workflow-id', moves.runId);
      return answer['pendingWorkflowTask'] !== undefined && answer;
    });
    const { state } = described['pendingWorkflowTask'] as { state: string };
    assert.equal(state, 'PENDING_WORKFLOW_TASK_STATE_SCHEDULED');
    assert.equal((await api.poll(moves.runId)).data.status, 'in progress');

    await builds.move(['--workflow-id', moves.runId], '3');
    assert.equal(await moves.end(), 'succeed');
    assert.deepEqual((await builds.of(moves.runId)).slice(0, 2), [['2', '3'], ['3']]);
    assert.equal((await api.poll(waits.runId)).data.status, 'in progress');
    await builds.start('2', { dist: other.dist });
    assert.equal(await waits.end(), 'succeed');
    assert.deepEqual((await builds.of(waits.runId)).slice(0, 2), [['2'], ['2']]);
  });

  it('one that cannot go on with a run that was moved to it loses nothing: moved back, the run goes on', async () => {
    const run = await startWaiting();
    await builds.start('4');
    await builds.move(['--workflow-id', run.runId], '4');
    await run.approve();
    await eventually(async () => (await builds.failedTasks(run.runId)) >= 1, LONG);
    assert.equal((await api.poll(run.runId)).data.status, 'in progress');
    await builds.move(['--workflow-id', run.runId], '3');
    assert.equal(await run.end(), 'succeed');
    assert.deepEqual((await builds.of(run.runId)).slice(0, 2), [['3'], ['3']]);
  });

  it('the one before can be made current again: what the newer one has begun stays on the newer one', async () => {
    await builds.makeCurrent('4');
    const onFourth = await startWaiting();
    await builds.makeCurrent('3');
    await endsOn(await startWaiting(), [['3']]);
    await endsOn(onFourth, [['4']]);
    assert.equal(await builds.failedTasks(onFourth.runId), 0);
  });

  it('all runs of one whose workers are gone are moved to another by one command', async () => {
    await builds.makeCurrent('4');
    const left = [await startWaiting(), await startWaiting()];
    await builds.start('5');
    assert.equal(await builds.stop('4'), 0);
    const version = `TemporalWorkerDeploymentVersion = '${DEPLOYMENT}:4'`;
    await untilOpen(version, 2);
    await builds.move(['--query', `${OPEN} AND ${version}`], '5');
    for (const run of left) {
      await run.approve();
      assert.equal(await run.end(), 'succeed');
      assert.deepEqual((await builds.of(run.runId)).slice(0, 2), [['4', '5'], ['5']]);
    }
  });

  it('runs that wait, are in a loop or have started another run end on the next one as they would have on theirs', async () => {
    await builds.makeCurrent('5');
    const runs = await OpenRuns.create(() => stack, target);
    const expected = [];
    for (const name of OPEN_RUNS) {
      expected.push(await runs.end(await runs.begin(name, { tag: `stays-${name}`, seconds: 1 })));
    }
    await builds.start('6');
    const begun = [];
    for (const name of OPEN_RUNS) begun.push(await runs.begin(name, { tag: `moves-${name}`, seconds: OPEN_SECONDS }));
    assert.equal(await builds.stop('5'), 0);
    const version = `TemporalWorkerDeploymentVersion = '${DEPLOYMENT}:5'`;
    // The run of the sub-workflow started on the build of its parent.
    await untilOpen(version, OPEN_RUNS.length + 1);
    await builds.move(['--query', `${OPEN} AND ${version}`], '6');
    for (const [index, run] of begun.entries()) {
      assert.deepEqual(await runs.end(run), expected[index], run.name);
      // The end is reported before Temporal has stored the workflow task that reports it.
      await eventually(async () => (await builds.of(run.runId)).at(-1)!.at(-1) === '6', LONG);
      assert.equal(await builds.failedTasks(run.runId), 0, run.name);
    }
  });

  it('the first build of all becomes current by itself, and none without the queues of the current one', async () => {
    const TEMPORAL_TASK_QUEUE = 'versioned-only';
    const process = await startApiProcess(stack, { TEMPORAL_TASK_QUEUE, ALLOW_PRIVATE_NETWORK: 'true' });
    const versioned = { WORKER_VERSIONING: 'true', WORKER_DEPLOYMENT_NAME: 'apart' };
    const worker = await startWorkerProcess(stack, { env: { ...versioned, TEMPORAL_TASK_QUEUE } });
    await eventually(() => worker.output().includes('new runs start on this build'), LONG);
    const elsewhere = { ...versioned, TEMPORAL_TASK_QUEUE: 'elsewhere', WORKER_BUILD_ID: '2' };
    const next = await startWorkerProcess(stack, { env: elsewhere });
    try {
      const client = createApiClient(process.apiUrl, stack.apiKey);
      const workflow = await client.createWorkflow(await client.createProject(), drawing([trigger()]));
      const { data } = await client.run(workflow);
      assert.equal((await client.pollToEnd(data.id, LONG)).data.status, 'succeed');
      const { build_id: first } = (await builds.admin(['list'], 'apart')).find(({ current }) => current)!;
      assert.match(first, /^\d+\.\d+\.\d+-[0-9a-f]{12}$/);
      await eventually(() => next.output().includes('another build is current'), LONG);
      await assert.rejects(builds.admin(['set-current', '2'], 'apart'), (error: Error) =>
        error.message.startsWith(`2: has no worker for ${TEMPORAL_TASK_QUEUE}, which ${first} serves`),
      );
      await assert.rejects(builds.admin(['set-current', '3'], 'apart'), /^Error: 3: no worker of this build/);
      const changed = await builds.admin(['set-current', '2', '--ignore-missing-pools'], 'apart');
      assert.deepEqual(
        changed.filter(({ current }) => current).map(({ build_id: id }) => id),
        ['2'],
      );
    } finally {
      await Promise.all([worker.stop(), next.stop(), process.stop()]);
    }
  });
});
