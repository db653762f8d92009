// Pools of workers (docs/operate/pools.md). The worker of the stack serves the default pool; the tests start, stop and
// kill workers of other pools.
import assert from 'node:assert/strict';
import { createApiClient, type ApiClient, type NodeEntry } from '../../harness/client/api-client.js';
import {
  condition,
  drawing,
  http,
  link,
  linkInRow,
  node,
  resultOf,
  trigger,
  type DrawingNode,
} from '../../harness/drawing/drawing.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { eventually } from '../../harness/timing/eventually.js';
import { changeUser, createAccount, sessionOf } from '../api/accounts.js';
import { drawAgent, scriptModel } from '../support/agents.js';
import { queryDatabase, withTemporal } from '../support/inspect.js';
import { startWorkerProcess, type WorkerProcess } from '../../harness/stack/worker-process.js';

const LONG = { timeoutMs: 120_000, intervalMs: 100 };

interface Pool {
  name: string;
  workers: number;
  build_ids: string[];
  backlog: number;
  oldest_seconds: number;
}

describe('pools of workers', function () {
  this.timeout(300_000);
  let stack: TestStack;
  let api: ApiClient;
  let administrator: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;
  const workers = new Set<WorkerProcess>();

  before(async () => {
    stack = await startStack();
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
    tools = await startToolServer();
    const account = await createAccount(stack);
    await changeUser(stack, account, { is_admin: true });
    administrator = await sessionOf(stack, account);
  });

  after(async () => {
    await Promise.all([...workers].map((worker) => worker.stop()));
    await Promise.all([target.close(), tools.close()]);
    await (stack as Awaited<ReturnType<typeof startStack>>).stop();
  });

  async function startWorker(pool: string): Promise<WorkerProcess> {
    const worker = await startWorkerProcess(stack, { env: { WORKER_POOL: pool } });
    workers.add(worker);
    return worker;
  }

  async function stopWorker(worker: WorkerProcess): Promise<void> {
    workers.delete(worker);
    assert.equal(await worker.stop(), 0);
  }

  async function projectWith(changes: { pool?: string | null; pools?: string[] }): Promise<number> {
    const id = await api.createProject();
    const { status } = await administrator.patch(`/projects/${id}/`, { body: changes });
    assert.equal(status, 200);
    return id;
  }

  /** Starts a run of the drawing. */
  async function start(projectId: number, nodes: DrawingNode[], settings: object = {}): Promise<string> {
    const workflowId = await api.createWorkflow(projectId, { ...drawing(nodes), settings });
    const { status, data } = await api.run(workflowId);
    assert.equal(status, 201, JSON.stringify(data));
    return data.id;
  }

  const inPool = (pool: string, url: string, more: object = {}): DrawingNode =>
    http(url, { settings: { pool, ...more } });

  async function entryOf(runId: string, { id }: DrawingNode): Promise<NodeEntry | undefined> {
    return (await api.poll(runId)).data.data?.[id];
  }

  const untilWaiting = (runId: string, of: DrawingNode, pool: string) =>
    eventually(async () => {
      const waiting = (await entryOf(runId, of))?.waiting;
      if (waiting === undefined) return false;
      assert.deepEqual(waiting, { for: 'worker', pool });
      return true;
    }, LONG);

  /** The pool whose worker claimed each node last. */
  async function poolsOf(runId: string, nodes: readonly DrawingNode[]): Promise<(string | undefined)[]> {
    const rows = await queryDatabase<{ node_id: string; pool: string }>(
      stack,
      'SELECT node_id, pool FROM node_results JOIN workers ON workers.id = worker WHERE run_id = $1',
      [runId],
    );
    const pools = new Map(rows.map(({ node_id: id, pool }) => [id, pool]));
    return nodes.map(({ id }) => pools.get(id));
  }

  /** The activities that the run scheduled: type, and suffix of the queue after the name of the default queue. */
  function activitiesOf(runId: string): Promise<string[]> {
    return withTemporal(stack, async (client) => {
      const { events } = await client.workflow.getHandle(runId).fetchHistory();
      return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled ? [`${scheduled.activityType?.name}${scheduled.taskQueue?.name?.replace('workflow-runs', '')}`] : [],
      );
    });
  }

  const listPools = async (): Promise<Pool[]> => (await administrator.get<Pool[]>('/pools/')).body;
  const poolOf = async (name: string): Promise<Pool | undefined> =>
    (await listPools()).find((pool) => pool.name === name);

  it('a node waits for a worker of its pool, says so, and goes on when one comes', async () => {
    const projectId = await projectWith({ pools: ['away'] });
    const [first, away] = [http(`${target.url}/first`), inPool('away', `${target.url}/away`)];
    const nodes = linkInRow([trigger(), first, away, condition(resultOf(away), 'is_not_empty', '')]);
    const workflowId = await api.createWorkflow(projectId, drawing(nodes));
    const check = await api.get<{ is_valid: boolean; warnings: { code: string; node_id: string; path: string }[] }>(
      `/workflows/${workflowId}/check_workflow/`,
    );
    const [warning] = check.body.warnings.filter(({ code }) => code === 'pool_unattended');
    assert.deepEqual([check.body.is_valid, warning?.node_id, warning?.path], [true, away.id, 'settings.pool']);
    const runId = (await api.run(workflowId)).data.id;
    await untilWaiting(runId, away, 'away');
    assert.equal((await api.history(workflowId, runId)).waiting_for, 'worker');
    assert.equal((await api.poll(runId)).data.status, 'in progress');
    const detail = await api.get<{ queued_ms: number | null; attempts: unknown[] }>(
      `/workflows/${workflowId}/history/${runId}/nodes/${away.id}/`,
    );
    assert.deepEqual([detail.body.queued_ms, detail.body.attempts], [null, []]);
    const pool = (await poolOf('away'))!;
    assert.deepEqual([pool.workers, pool.backlog, pool.build_ids], [0, 1, []]);
    assert.ok(pool.oldest_seconds >= 5, `${pool.oldest_seconds}`);
    const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text();
    assert.match(metrics, /pool_workers\{pool="default"\} 1/);
    const worker = await startWorker('away');
    assert.equal((await api.pollToEnd(runId, LONG)).data.status, 'succeed');
    assert.deepEqual(await poolsOf(runId, [first, away]), ['default', 'away']);
    assert.deepEqual(await activitiesOf(runId), ['httpRequest', 'httpRequest.away']);
    assert.deepEqual(
      await queryDatabase<{ closed: boolean }>(
        stack,
        'SELECT closed_at IS NOT NULL AS closed FROM waits WHERE run_id = $1',
        [runId],
      ),
      [{ closed: true }],
    );
    await eventually(async () => (await poolOf('away'))?.backlog === 0, LONG);
    assert.equal((await poolOf('away'))?.workers, 1);
    await stopWorker(worker);
    assert.equal((await poolOf('away'))?.workers, 0, 'one that stops does not count from then on');
  });

  it('code, agents with their tools, and models run in the pool of the project', async () => {
    const worker = await startWorker('work');
    const projectId = await projectWith({ pool: 'work' });
    const model = scriptModel(stack, [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'ok' }]);
    const { data, node: agentNode } = drawAgent(model, { server: { endpoint_url: tools.url } });
    const code = node('code', { code: 'return 1;' });
    link(agentNode, code);
    data.nodes.push(code);
    const workflowId = await api.createWorkflow(projectId, data);
    const { data: started } = await api.run(workflowId);
    assert.equal((await api.pollToEnd(started.id, LONG)).data.status, 'succeed');
    assert.deepEqual(await poolsOf(started.id, [agentNode, code]), ['work', 'work']);
    assert.deepEqual(await activitiesOf(started.id), [
      'agentTurn.work',
      'agentTools.work',
      'agentTurn.work',
      'runCode.work',
    ]);
    await stopWorker(worker);
  });

  it('a dense walk ends where the pool changes, and another pool decides nothing', async () => {
    const worker = await startWorker('dense');
    const projectId = await projectWith({ pools: ['dense'] });
    const here = http(`${target.url}/a`);
    const [there, alsoThere] = [inPool('dense', `${target.url}/b`), inPool('dense', `${target.url}/c`)];
    const decides = condition('1', '==', '1');
    const last = http(`${target.url}/d`);
    const runId = await start(projectId, linkInRow([trigger(), here, there, alsoThere, decides, last]), {
      execution: 'dense',
    });
    assert.equal((await api.pollToEnd(runId, LONG)).data.status, 'succeed');
    assert.deepEqual(await activitiesOf(runId), ['httpRequest', 'httpRequest.dense', 'httpRequest']);
    assert.deepEqual(await poolsOf(runId, [here, there, alsoThere, last]), ['default', 'dense', 'dense', 'default']);
    await stopWorker(worker);
  });

  it('a node whose worker was killed waits for the next one of its pool', async () => {
    const worker = await startWorker('killed');
    const projectId = await projectWith({ pools: ['killed'] });
    const held = inPool('killed', `${target.url}/hold/killed`);
    const runId = await start(projectId, linkInRow([trigger(), held]));
    await eventually(() => target.requestsTo('/hold/killed').length === 1, LONG);
    process.kill(worker.pid, 'SIGKILL');
    workers.delete(worker);
    await untilWaiting(runId, held, 'killed');
    target.release('/hold/killed');
    const next = await startWorker('killed');
    assert.equal((await api.pollToEnd(runId, LONG)).data.status, 'succeed');
    assert.deepEqual(await poolsOf(runId, [held]), ['killed']);
    await stopWorker(next);
  });

  it('a node that no worker takes fails with worker_unavailable after its schedule_timeout, and on_error catches that', async () => {
    const projectId = await projectWith({ pools: ['nobody'] });
    const lost = inPool('nobody', `${target.url}/lost`, { schedule_timeout: 1 });
    const failed = await start(projectId, linkInRow([trigger(), lost]));
    const ended = (await api.pollToEnd(failed, LONG)).data;
    assert.deepEqual([ended.status, ended.data?.[lost.id]?.error?.code], ['failed', 'worker_unavailable']);
    const caught = inPool('nobody', `${target.url}/lost`, { schedule_timeout: 1 });
    caught.data['on_error'] = 'continue';
    const after = http(`${target.url}/after`);
    const survived = await start(projectId, linkInRow([trigger(), caught, after]));
    const { status, data } = (await api.pollToEnd(survived, LONG)).data;
    assert.deepEqual(
      [status, data?.[caught.id]?.error?.code, data?.[caught.id]?.handled, data?.[after.id]?.status],
      ['succeed', 'worker_unavailable', true, 'succeed'],
    );
    assert.equal(target.requestsTo('/lost').length, 0);
  });

  it('cancelling a run ends the wait of its node', async () => {
    const projectId = await projectWith({ pools: ['nobody'] });
    const lost = inPool('nobody', `${target.url}/lost`);
    const runId = await start(projectId, linkInRow([trigger(), lost]));
    await untilWaiting(runId, lost, 'nobody');
    const [{ workflow_id: workflowId } = { workflow_id: 0 }] = await queryDatabase<{ workflow_id: number }>(
      stack,
      'SELECT workflow_id FROM runs WHERE id = $1',
      [runId],
    );
    const { status } = await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
    assert.equal(status, 200);
    assert.equal((await api.pollToEnd(runId, LONG)).data.status, 'failed');
    await eventually(async () => {
      const left = await queryDatabase(stack, 'SELECT FROM pool_nodes WHERE run_id = $1', [runId]);
      return left.length === 0;
    }, LONG);
    const open = await queryDatabase(stack, 'SELECT FROM waits WHERE run_id = $1 AND closed_at IS NULL', [runId]);
    assert.equal(open.length, 0);
  });

  it('a pool that the project does not have is a 422 at the start; if the project loses it later, the node fails', async () => {
    const projectId = await projectWith({ pools: ['taken'] });
    const wrong = inPool('other', `${target.url}/wrong`);
    const refused = await api.run(await api.createWorkflow(projectId, drawing(linkInRow([trigger(), wrong]))));
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.data.data?.[wrong.id]?.result, [
      { 'settings.pool': 'Input should be a pool of the project: default, taken' },
    ]);
    const held = http(`${target.url}/hold/taken`);
    const later = inPool('taken', `${target.url}/later`);
    const runId = await start(projectId, linkInRow([trigger(), held, later]));
    await eventually(() => target.requestsTo('/hold/taken').length === 1, LONG);
    assert.equal((await administrator.patch(`/projects/${projectId}/`, { body: { pools: [] } })).status, 200);
    target.release('/hold/taken');
    const { status, data } = (await api.pollToEnd(runId, LONG)).data;
    assert.deepEqual([status, data?.[later.id]?.error?.code], ['failed', 'pool_not_allowed']);
    assert.equal(target.requestsTo('/later').length, 0);
  });

  it('a run goes on in the pool that its project gets meanwhile', async () => {
    const worker = await startWorker('later');
    const projectId = await api.createProject();
    const [held, after] = [http(`${target.url}/hold/moved`), http(`${target.url}/moved`)];
    const runId = await start(projectId, linkInRow([trigger(), held, after]));
    await eventually(() => target.requestsTo('/hold/moved').length === 1, LONG);
    await administrator.patch(`/projects/${projectId}/`, { body: { pool: 'later' } });
    // Workers cache the pools of a project for 2 s.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    target.release('/hold/moved');
    assert.equal((await api.pollToEnd(runId, LONG)).data.status, 'succeed');
    assert.deepEqual(await poolsOf(runId, [held, after]), ['default', 'later']);
    assert.equal(target.requestsTo('/moved').length, 1);
    await stopWorker(worker);
  });

  it('only administrators change the pools of a project, and only in a session; malformed names are refused', async () => {
    const projectId = await api.createProject();
    const path = `/projects/${projectId}/`;
    assert.equal((await api.patch(path, { body: { pools: ['a'] } })).status, 403, 'its owner');
    const stranger = await createAccount(stack);
    assert.equal((await stranger.api.patch(path, { body: { pools: ['a'] } })).status, 404);
    assert.equal((await (await sessionOf(stack, stranger)).patch(path, { body: { pools: ['a'] } })).status, 404);
    await changeUser(stack, stranger, { is_admin: true });
    assert.equal((await stranger.api.patch(path, { body: { pools: ['a'] } })).status, 404, 'a key is not enough');
    const answer = await administrator.patch(path, { body: { pool: 'a', pools: ['b', 'b', 'default'] } });
    assert.deepEqual(
      [answer.status, answer.body],
      [200, { id: projectId, name: 'test project', pool: 'a', pools: ['b', 'default'] }],
    );
    assert.equal((await administrator.patch(path, { body: { name: 'mine' } })).status, 404);
    assert.equal((await administrator.patch(path, { body: { name: 'mine', pool: 'b' } })).status, 403);
    assert.equal((await administrator.get(path)).status, 404);
    const hostile = ['', 'A', 'a b', 'a.b', 'ä', '../a', "a'; DROP TABLE runs --", 'a'.repeat(41), '{{ input.pool }}'];
    for (const pool of [...hostile, 1, {}]) {
      assert.equal((await administrator.patch(path, { body: { pool } })).status, 400, JSON.stringify(pool));
      assert.equal((await administrator.patch(path, { body: { pools: [pool] } })).status, 400, JSON.stringify(pool));
    }
    const shown = (await api.get<{ pool: string; pools: string[] }>(path)).body;
    assert.deepEqual([shown.pool, shown.pools], ['a', ['b', 'default']]);
    assert.equal((await (await createAccount(stack)).api.get('/pools/')).status, 403);
    for (const pool of hostile) {
      const drawn = inPool(pool, target.url);
      const { status, data } = await api.run(
        await api.createWorkflow(projectId, drawing(linkInRow([trigger(), drawn]))),
      );
      assert.equal(status, 422, pool);
      const [error = {}] = (data.data?.[drawn.id]?.result ?? []) as unknown as object[];
      assert.deepEqual(Object.keys(error), ['settings.pool'], pool);
    }
    for (const limit of [0, -1, 2_592_001, '5', Number.MAX_VALUE]) {
      const drawn = http(target.url, { settings: { schedule_timeout: limit } });
      const { status } = await api.run(await api.createWorkflow(projectId, drawing(linkInRow([trigger(), drawn]))));
      assert.equal(status, 422, String(limit));
    }
  });
});
