import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type ApiClient, type Envelope, type NodeEntry } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import {
  agent,
  chain,
  drawing,
  http,
  link,
  linkInRow,
  llm,
  trigger,
  type DrawingNode,
} from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { cancelRun, queryDatabase } from '../../support/inspect.js';
import { startStack, type StartedStack } from '../../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../../harness/target/tool-server.js';

/** After this time, a run is old enough to be queried, and its last answer is no longer reused. */
const OLD_ENOUGH_MS = 2_500;
const MOST_BLOCKED_MS = 300;
/** On a busy machine a query may time out, and the run is then not queried again for five seconds. */
const PATIENCE = { timeoutMs: 40_000, intervalMs: 100 };

describe('the live part of workflow_result', function () {
  this.timeout(180_000);
  let stack: StartedStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    [target, tools] = await Promise.all([startHttpTarget(), startToolServer()]);
    // The first query opens the connection's stream, so send one before the tests.
    const { runId } = await startHeld('first');
    await eventually(
      async () => (await poll(runId)).status === 'in progress' && (await queries('answered')) > 0,
      PATIENCE,
    );
    await cancelRun(stack, runId);
  });
  after(async () => {
    await Promise.all([target.close(), tools.close()]);
    await stack.stop();
  });

  async function start(...nodes: DrawingNode[]): Promise<string> {
    const begin = trigger();
    linkInRow([begin, ...nodes]);
    return (await api.run(await api.createWorkflow(await api.createProject(), drawing([begin, ...nodes])))).data.id;
  }

  /** Starts a run whose only call is in flight for as long as the test lasts. */
  async function startHeld(tag: string): Promise<{ runId: string; held: DrawingNode }> {
    const path = `/delay/110000/${tag}`;
    const held = http(`${target.url}${path}`);
    const runId = await start(held);
    await eventually(() => target.requestsTo(path).length === 1);
    await pause(OLD_ENOUGH_MS);
    return { runId, held };
  }

  async function poll(runId: string): Promise<Envelope['data'] & { tookMs: number }> {
    const startedAt = performance.now();
    const { data } = await api.poll(runId);
    return { ...data, tookMs: performance.now() - startedAt };
  }

  async function queries(outcome: string): Promise<number> {
    const text = await (await fetch(`${stack.apiUrl}/metrics`)).text();
    return Number(new RegExp(`^run_queries_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)![1]);
  }

  /**
   * Polls a run and a finished run at the same time. A finished run is never queried, so its times measure the load of
   * the machine.
   */
  async function pollSideBySide(runId: string, finishedId: string): Promise<{ live: Envelope['data'][] }> {
    const twenty = (id: string) => Promise.all(Array.from({ length: 20 }, () => poll(id)));
    const [live, finished] = await Promise.all([twenty(runId), twenty(finishedId)]);
    for (const { status, data } of finished) assert.deepEqual([status, Object.keys(data!).length], ['succeed', 2]);
    const slowest = (polls: { tookMs: number }[]): number => Math.max(...polls.map(({ tookMs }) => tookMs));
    // On a busy machine, the query, its timer and the poll itself are each delayed as much as a poll of the finished
    // run. Without a limit, a query waits 10 s (live-status.test.ts measures the limit itself).
    const limitMs = slowest(finished) + Math.max(MOST_BLOCKED_MS, 4 * slowest(finished));
    assert.ok(slowest(live) <= limitMs, `${slowest(live)} ms, of a finished run ${slowest(finished)} ms`);
    return { live };
  }

  it('shows a node in flight before there is anything of it in the database', async () => {
    stack.modelProvider.script('slow', [{ delayMs: 110_000 }]);
    const node = agent('work', { model_name: 'slow' }, []);
    const runId = await start(node);
    await eventually(() => stack.modelProvider.requestsFor('slow').length === 1);
    const removed = 'DELETE FROM node_results WHERE run_id = $1 AND node_id = $2 RETURNING node_id';
    assert.equal((await queryDatabase(stack, removed, [runId, node.id])).length, 1);
    const { status, data } = await eventually(async () => {
      const polled = await poll(runId);
      return polled.data?.[node.id] !== undefined && polled;
    }, PATIENCE);
    assert.equal(status, 'in progress');
    assert.deepEqual(data![node.id], { id: node.id, status: 'in progress', started_at: null, finished_at: null });
    assert.equal(
      (await queryDatabase(stack, removed, [runId, node.id])).length,
      0,
      'nothing of it was stored meanwhile',
    );
    await cancelRun(stack, runId);
  });

  it('queries a run at most once a second, however often it is polled', async () => {
    const { runId, held } = await startHeld('often');
    const before = await queries('answered');
    const startedAt = performance.now();
    const polls: Promise<Envelope['data']>[] = [];
    const isEnough = async (): Promise<boolean> => polls.length > 40 && (await queries('answered')) - before >= 2;
    for (; performance.now() - startedAt < 4_000 || !(await isEnough()); await pause(20)) polls.push(poll(runId));
    for (const { data } of await Promise.all(polls)) assert.equal(data![held.id]!.status, 'in progress');
    const [sent, seconds] = [(await queries('answered')) - before, (performance.now() - startedAt) / 1000];
    assert.ok(polls.length > 40 && sent >= 2 && sent <= seconds + 1, `${sent} queries in ${seconds} s`);
    await cancelRun(stack, runId);
  });

  it('never queries a run that has ended', async () => {
    const { runId } = await api.runToEnd(chain(2, () => llm('hello')));
    await pause(OLD_ENOUGH_MS);
    const outcomes = ['answered', 'refused', 'timed_out', 'skipped'];
    const sums = () => Promise.all(outcomes.map(queries));
    const before = await sums();
    for (let polls = 0; polls < 10; polls++) await poll(runId);
    assert.deepEqual(await sums(), before);
  });

  it('is in queue until its start is stored, even if its Temporal workflow could report nodes', async () => {
    const { runId } = await startHeld('unstored');
    const unstart = 'UPDATE runs SET run_started_at = NULL WHERE id = $1 RETURNING id';
    assert.equal((await queryDatabase(stack, unstart, [runId])).length, 1);
    const before = await queries('answered');
    const statuses = new Set<string>();
    for (let polls = 0; polls < 10; polls++) statuses.add((await poll(runId)).status);
    assert.deepEqual([...statuses], ['in queue']);
    assert.equal(await queries('answered'), before);
    await cancelRun(stack, runId);
  });

  it('says until when an agent waits for an approval, with its worker and without', async () => {
    stack.modelProvider.script('asks', [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'ok' }]);
    const server = { endpoint_url: tools.url, require_approval: 'always' };
    const waits = agent('work', { model_name: 'asks', approval_timeout: 3_600 }, [server]);
    const runId = await start(waits);
    const entryOf = async (): Promise<NodeEntry | undefined> => (await poll(runId)).data?.[waits.id];
    const check = ({ approval_requests: requests, waiting }: NodeEntry): void => {
      assert.equal(waiting!.for, 'approval');
      const differenceMs = Date.parse(waiting!.until!) - Date.parse(String(requests![0]!['expires_at']));
      assert.ok(Math.abs(differenceMs) <= 1_000, `${differenceMs} ms`);
    };
    await eventually(async () => (await entryOf())?.waiting !== undefined);
    const answered = await queries('answered');
    await pause(OLD_ENOUGH_MS);
    await eventually(async () => (await entryOf()) && (await queries('answered')) > answered, PATIENCE);
    check((await entryOf())!);
    const worker = stack.stack.pids.worker!;
    process.kill(worker, 'SIGSTOP');
    try {
      await pause(OLD_ENOUGH_MS);
      check((await entryOf())!);
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    await cancelRun(stack, runId);
    const ended = (await api.pollToEnd(runId)).data.data![waits.id]!;
    assert.deepEqual([ended.status, ended.waiting, ended.approval_requests], ['failed', undefined, undefined]);
  });

  it('answers within 300 ms while its worker stands still, and at once after the first that waited', async () => {
    const { runId, held } = await startHeld('frozen');
    const { runId: finishedId } = await api.runToEnd(chain(2, () => llm('hello')));
    const worker = stack.stack.pids.worker!;
    process.kill(worker, 'SIGSTOP');
    try {
      await pause(OLD_ENOUGH_MS);
      const before = await queries('timed_out');
      for (let round = 0; round < 3; round++) {
        const { live } = await pollSideBySide(runId, finishedId);
        for (const { data } of live) {
          const { started_at: startedAt, ...entry } = data![held.id]!;
          assert.deepEqual(entry, { id: held.id, status: 'in progress', finished_at: null });
          assert.ok(startedAt);
        }
      }
      assert.equal((await queries('timed_out')) - before, 1, 'the second and third round waited for nothing');
    } finally {
      process.kill(worker, 'SIGCONT');
    }
    const answered = await queries('answered');
    await eventually(async () => (await poll(runId)) && (await queries('answered')) > answered, PATIENCE);
    await cancelRun(stack, runId);
  });

  it('answers within 300 ms when every worker has been killed', async () => {
    const { runId, held } = await startHeld('killed');
    const { runId: finishedId } = await api.runToEnd(chain(2, () => llm('hello')));
    // The stopped supervisor starts no other worker.
    process.kill(stack.supervisor.pid!, 'SIGSTOP');
    try {
      process.kill(stack.stack.pids.worker!, 'SIGKILL');
      await pause(OLD_ENOUGH_MS);
      for (let round = 0; round < 3; round++) {
        const { live } = await pollSideBySide(runId, finishedId);
        for (const { status, data } of live) {
          assert.deepEqual([status, data![held.id]!.status], ['in progress', 'in progress']);
        }
      }
    } finally {
      process.kill(stack.supervisor.pid!, 'SIGCONT');
    }
    const answered = await queries('answered');
    await eventually(async () => (await poll(runId)) && (await queries('answered')) > answered, { timeoutMs: 60_000 });
    await cancelRun(stack, runId);
  });

  it('shows no end of a run, and none of a node, before its data', async () => {
    const begin = trigger();
    const calls = ['a', 'b', 'c'].map((tag) => http(`${target.url}/delay/1300/${tag}`));
    const last = llm('the end');
    link(begin, calls);
    for (const call of calls) link(call, last);
    const id = await api.createWorkflow(await api.createProject(), drawing([begin, ...calls, last]));
    const asked = async () => (await queries('answered')) + (await queries('timed_out')) + (await queries('skipped'));
    const before = await asked();
    const runs = await Promise.all(Array.from({ length: 6 }, () => api.run(id)));
    const watch = async (runId: string): Promise<void> => {
      const deadline = performance.now() + 120_000;
      for (;;) {
        const { status, data: nodes } = await poll(runId);
        assert.ok(performance.now() < deadline, `${runId} is still ${status}`);
        const entries = Object.values(nodes ?? {});
        for (const entry of entries) {
          assert.ok(entry.status === 'in progress' || typeof entry.result?.content === 'string', JSON.stringify(entry));
        }
        if (status !== 'succeed') continue;
        assert.deepEqual([entries.length, entries.every((entry) => entry.status === 'succeed')], [5, true]);
        return;
      }
    };
    await Promise.all(runs.map((run) => watch(run.data.id)));
    assert.ok((await asked()) > before, 'the runs grew old enough to be queried');
  });
});
