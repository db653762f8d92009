// The drill of docs/operate/upgrade.md, "The database": a build with a further migration takes over from the running
// one, while runs start, go on and wait.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { Decimal } from 'decimal.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import { eventually } from '../../harness/timing/eventually.js';
import { agent, drawing, http, link, linkInRow, llm, trigger } from '../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../harness/target/http-target.js';
import { queryDatabase } from '../support/inspect.js';
import { secretsOf, startServiceProcess, type ServiceProcess } from '../../harness/stack/service-process.js';
import { startStack, type TestStack } from '../../harness/stack/stack.js';
import { startToolServer, type ToolServer } from '../../harness/target/tool-server.js';
import { startWorkerProcess } from '../../harness/stack/worker-process.js';
import { OWN_BUILD } from '../../harness/stack/supervisor.js';
import { makeNextBuild, type NextBuild } from './next-build.js';

const LONG = { timeoutMs: 60_000, intervalMs: 100 };
const CLIENTS = 4;
/** The duration of a GET and of a POST: at any time some of each are in flight. */
const DELAY_MS = 200;

describe('migrations while the service runs', function () {
  this.timeout(180_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;
  let tools: ToolServer;
  let next: NextBuild;

  before(async () => {
    [stack, target, tools] = await Promise.all([startStack(), startHttpTarget(), startToolServer()]);
    await queryDatabase(stack, 'UPDATE api_keys SET rate_limit = 1000000');
    api = createApiClient(stack.apiUrl, stack.apiKey);
    next = makeNextBuild();
  });

  after(async () => {
    await stack.stop();
    await Promise.all([target.close(), tools.close()]);
    next.remove();
  });

  /** Runs `npm run migrate`. */
  async function migrate(dist = next.dist): Promise<string> {
    const env = { PATH: process.env['PATH'], DATABASE_URL: stack.stack.database_url, NODE_ENV: 'production' };
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(dist, 'cli/migrate.js')], { env });
    return stdout;
  }

  function startNextApi(): Promise<ServiceProcess> {
    const { SECRETS_KEY, INTERNAL_SERVICE_TOKEN, JWT_SECRET } = secretsOf(stack);
    const { database_url: DATABASE_URL, temporal_address: TEMPORAL_ADDRESS } = stack.stack;
    const servers = { DATABASE_URL, TEMPORAL_ADDRESS, PORT: '0', ALLOW_PRIVATE_NETWORK: 'true' };
    const files = { FILES_DIR: path.join(stack.dataDir, 'files') };
    const env = { ...servers, ...files, SECRETS_KEY, INTERNAL_SERVICE_TOKEN, JWT_SECRET };
    return startServiceProcess(path.join(next.dist, 'api/main.js'), env);
  }

  async function startWaiting(): Promise<string> {
    const call = { name: 'add', arguments: { a: 1, b: 2 } };
    stack.modelProvider.script('waiting', [{ toolCalls: [call] }, { text: 'ok' }]);
    const work = agent('work', { model_name: 'waiting' }, [{ endpoint_url: tools.url, require_approval: 'always' }]);
    const start = trigger();
    link(start, work);
    const { data } = await api.run(await api.createWorkflow(await api.createProject(), drawing([start, work])));
    await eventually(async () => (await pendingOf(data.id)).length === 1, LONG);
    return data.id;
  }

  async function pendingOf(runId: string): Promise<{ request_id: string }[]> {
    return (await api.get<{ request_id: string }[]>(`/workflows/workflow_run/${runId}/agent-approval/`)).body;
  }

  it('no run is lost, refused, repeated or billed twice, and the API of the new build waits for them', async () => {
    const waiting = await startWaiting();
    const project = await api.createProject();
    const nodes = [trigger(), http(`${target.url}/delay/${DELAY_MS}/get`)];
    nodes.push(http(`${target.url}/delay/${DELAY_MS}/post`, { method: 'POST' }), llm('hello'));
    const workflow = await api.createWorkflow(project, drawing(linkInRow(nodes)));

    const load = { isOver: false, runs: [] as string[] };
    /** Throws on any answer but 2xx. */
    const client = async (): Promise<void> => {
      while (!load.isOver) {
        const { data } = await api.run(workflow);
        load.runs.push(data.id);
        assert.equal((await api.pollToEnd(data.id, LONG)).data.status, 'succeed');
      }
    };
    const clients = Promise.all(Array.from({ length: CLIENTS }, client));
    const settled = clients.catch(() => undefined);
    const nextApi = await startNextApi();
    let nextWorker: ServiceProcess | undefined;
    try {
      const readyOf = async () => (await (await fetch(`${nextApi.url}/readyz`)).json()) as Record<string, unknown>;
      assert.equal((await readyOf())['migrations'], false);
      await eventually(() => load.runs.length > 2 * CLIENTS, LONG);
      const answers = await Promise.all([migrate(), migrate()]);
      const applied = answers.flatMap((answer) => /^Applied: (.+)\.\n$/.exec(answer)?.[1]!.split(', ') ?? []);
      assert.deepEqual(applied.toSorted(), next.applies.toSorted(), 'each by one of them');
      assert.equal(await migrate(), 'The database is up to date.\n');
      assert.equal((await readyOf())['migrations'], true);
      assert.equal((await fetch(`${stack.apiUrl}/readyz`)).status, 200, 'the earlier build works on');
      await assert.rejects(migrate(OWN_BUILD), { code: 1, stderr: /^DATABASE_URL: a newer build has migrated .*\n$/ });
      const ofNext = 'SELECT of_next_build() AS "isThere"';
      assert.deepEqual(await queryDatabase(stack, ofNext), [{ isThere: true }]);
      // Both builds run side by side until the next one's worker has executed some runs.
      nextWorker = await startWorkerProcess(stack, { dist: next.dist });
      const before = load.runs.length;
      await eventually(() => load.runs.length > before + 5 * CLIENTS, LONG);
      const [request] = await pendingOf(waiting);
      const other = createApiClient(nextApi.url, stack.apiKey);
      await other.post(`/workflows/workflow_run/${waiting}/agent-approval/${request!.request_id}/approve/`);
      assert.equal((await other.pollToEnd(waiting, LONG)).data.status, 'succeed');
      const metrics = await (await fetch(`${nextWorker.url}/metrics`)).text();
      assert.match(metrics, /^nodes_total\{.*outcome="succeed".*\} [1-9]/m);
    } finally {
      load.isOver = true;
      await settled;
      await Promise.all([nextApi.stop(), nextWorker?.stop()]);
    }
    await clients;

    const posts = target.requestsTo(`/delay/${DELAY_MS}/post`);
    assert.equal(posts.length, load.runs.length);
    assert.equal(tools.calls.length, 1);
    const [sums] = await queryDatabase<{ runs: number; transactions: number; usd: string }>(
      stack,
      `SELECT (SELECT count(*)::integer FROM runs WHERE project_id = $1) AS runs, count(*)::integer AS transactions,
         sum(amount_usd)::text AS usd FROM billing_transactions WHERE project_id = $1`,
      [project],
    );
    assert.deepEqual([sums!.runs, sums!.transactions], [load.runs.length, load.runs.length * nodes.length]);
    const { body } = await api.get<{ total_spent: Record<string, string> }>(`/projects/${project}/`);
    assert.ok(new Decimal(sums!.usd).equals(body.total_spent['USD']!));
    assert.ok(new Decimal(sums!.usd).equals(new Decimal('0.00002').times(load.runs.length)));
  });
});
