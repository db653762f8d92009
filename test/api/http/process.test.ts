import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, inRow, node, trigger } from '../../../harness/drawing/drawing.js';
import { queryDatabase } from '../../support/inspect.js';
import { untilWaiting } from '../../support/waiting.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';

/** A port on which nothing listens. */
const NOWHERE = '127.0.0.1:1';

describe('the API process', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  it('is alive and ready, and tells its metrics by route pattern', async () => {
    assert.deepEqual(await get(stack, '/healthz'), [200, '{"status":"ok"}']);
    const ready = { status: 'ready', database: true, migrations: true, temporal: true, files: true };
    assert.deepEqual(await get(stack, '/readyz'), [200, JSON.stringify(ready)]);
    await get(stack, '/api/v1/projects/12345/');
    const [status, metrics] = await get(stack, '/metrics');
    assert.equal(status, 200);
    assert.match(
      metrics,
      /http_request_duration_seconds_count\{method="GET",route="\/api\/v1\/projects\/:id\/",status="401"/,
    );
    assert.ok(!metrics.includes('12345'));
  });

  it('counts a request whose caller hangs up before the answer as 499, not as 404', async () => {
    const { api, apiKey } = await createAccount(stack);
    const pause = node('wait', { mode: 'callback', timeout: 600 });
    const { data } = await api.run(
      await api.createWorkflow(await api.createProject(), drawing(inRow(trigger(), pause))),
    );
    await untilWaiting(api, data.id, pause.id);
    const { hostname, port } = new URL(stack.apiUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    // Without `If-None-Match`, the answer waits for the end of the run.
    const poll = `GET /api/v1/workflows/workflow_result/?id=${data.id} HTTP/1.1\r\n`;
    const head = `Host: ${hostname}\r\nX-API-Key: ${apiKey}\r\nPrefer: wait=50\r\n\r\n`;
    await new Promise((resolve) => socket.write(poll + head, resolve));
    socket.destroy();
    const aborted = /_count\{method="GET",route="\/api\/v1\/workflows\/workflow_result\/",status="499"/;
    await eventually(async () => aborted.test((await get(stack, '/metrics'))[1]));
  });

  it('with METRICS_PORT serves metrics and the details of readiness on that port only', async () => {
    const split = await startApiProcess(stack, { METRICS_PORT: '0', TEMPORAL_ADDRESS: NOWHERE });
    try {
      await eventually(() => split.output().includes('"metrics_port"'));
      const operators = `http://127.0.0.1:${/"metrics_port":(\d+)/.exec(split.output())![1]!}`;
      const ready = { status: 'not ready', database: true, migrations: true, temporal: false, files: true };
      // Right after its start, a process may report a check as failed that takes longer than a second: ask again.
      await eventually(async () => {
        const own = await fetch(`${operators}/readyz`);
        assert.deepEqual([own.status, await own.json()], [503, ready]);
        return true;
      });
      const metrics = await (await fetch(`${operators}/metrics`)).text();
      assert.match(metrics, /^runs_open \d+$/m);
      assert.match(metrics, /^process_cpu_user_seconds_total /m);
      assert.equal((await fetch(`${operators}/healthz`)).status, 200);
      assert.equal((await fetch(`${operators}/api/v1/projects/`)).status, 404);
      const bare = await fetch(`${split.apiUrl}/readyz`);
      assert.deepEqual([bare.status, await bare.json()], [503, { status: 'not ready' }]);
      const hidden = await fetch(`${split.apiUrl}/metrics`);
      assert.deepEqual([hidden.status, await hidden.json()], [404, { detail: 'Not found.', code: 'not_found' }]);
    } finally {
      assert.equal(await split.stop(), 0);
    }
  });

  it('without Temporal: serves finished runs, accepts new ones that another process starts, and says it is not ready', async () => {
    const account = await createAccount(stack);
    const { workflowId, runId } = await account.api.runToEnd(chain(1));
    const cut = await startApiProcess(stack, { TEMPORAL_ADDRESS: NOWHERE });
    try {
      const api = createApiClient(cut.apiUrl, account.apiKey);
      assert.equal((await api.poll(runId)).data.status, 'succeed');
      // The poll of a finished run sends no query to Temporal, so there is nothing to wait for.
      const [, metrics] = await get(cut, '/metrics');
      const queries = [...metrics.matchAll(/^run_queries_total\{outcome="(\w+)"\} (\d+)$/gm)];
      assert.deepEqual(
        queries.map(([, , count]) => count),
        queries.map(() => '0'),
      );
      assert.ok(queries.length > 0);
      assert.equal((await fetch(`${cut.apiUrl}/readyz`)).status, 503);
      assert.equal((await fetch(`${cut.apiUrl}/healthz`)).status, 200);
      const accepted = await api.run(workflowId);
      assert.deepEqual([accepted.status, accepted.data.status], [201, 'in queue']);
      assert.equal((await api.poll(accepted.data.id)).data.status, 'in queue');
      await queryDatabase(stack, 'UPDATE runs SET next_check_at = now() WHERE id = $1', [accepted.data.id]);
      assert.equal((await api.pollToEnd(accepted.data.id)).data.status, 'succeed');
    } finally {
      assert.equal(await cut.stop(), 0);
    }
  });

  it('without a database it starts, is not ready and answers 503 with nothing of the cause', async () => {
    const cut = await startApiProcess(stack, { DATABASE_URL: `postgres://user:hidden@${NOWHERE}/none` });
    try {
      // Right after its start, a process may report a check as failed that takes longer than a second: ask again.
      await eventually(async () => {
        const ready = await fetch(`${cut.apiUrl}/readyz`);
        const { database, temporal } = (await ready.json()) as Record<string, boolean>;
        assert.deepEqual([ready.status, database, temporal], [503, false, true]);
        return true;
      });
      const { status, body } = await createApiClient(cut.apiUrl, 'key').get('/projects/');
      const detail = 'The storage of the service is not available at present. Please try again.';
      assert.deepEqual([status, body], [503, { detail, code: 'unavailable' }]);
      await eventually(() => cut.output().includes('the database takes no work'));
      assert.ok(!cut.output().includes('hidden'));
    } finally {
      assert.equal(await cut.stop(), 0);
    }
  });

  it('on SIGTERM it finishes the request that is under way and ends with code 0', async () => {
    const account = await createAccount(stack);
    const workflowId = await account.api.createWorkflow(await account.api.createProject(), chain(1));
    // Without Temporal, the request waits for its deadline of two seconds, long enough to stop the API meanwhile.
    const cut = await startApiProcess(stack, { TEMPORAL_ADDRESS: NOWHERE });
    const api = createApiClient(cut.apiUrl, account.apiKey);
    const answer = api.run(workflowId);
    await eventually(async () => {
      const rows = await queryDatabase(stack, 'SELECT 1 FROM runs WHERE workflow_id = $1', [workflowId]);
      return rows.length === 1;
    });
    const [started, code] = await Promise.all([answer, cut.stop()]);
    assert.deepEqual([started.status, code], [201, 0]);
    await assert.rejects(fetch(`${cut.apiUrl}/healthz`));
  });
});

async function get({ apiUrl }: Pick<TestStack, 'apiUrl'>, path: string): Promise<[number, string]> {
  const response = await fetch(`${apiUrl}${path}`);
  return [response.status, await response.text()];
}
