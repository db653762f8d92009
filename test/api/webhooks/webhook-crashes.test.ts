import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { createApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startHttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { startStack } from '../../../harness/stack/stack.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';
import { createAccount } from '../accounts.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import { createHook, deliveriesOf, startRun, typesOf, verify } from '../webhook-receiver.js';

const BOTH = ['workflow_run.started', 'workflow_run.succeeded'];

describe('webhook delivery through crashes', function () {
  this.timeout(120_000);
  const dataDir = makeDataDir();
  after(() => rmSync(dataDir, { recursive: true, force: true }));

  it('a receiver that is down during a full restart of the stack gets every event afterwards, in order', async () => {
    const env = { WEBHOOK_RETRY_SCHEDULE: Array.from({ length: 50 }, () => '1').join(',') };
    const first = await startStack({ dataDir, env });
    const before = createApiClient(first.apiUrl, first.apiKey);
    const down = await startHttpTarget();
    const hook = await createHook(before, down);
    await down.close();
    const runId = await startRun(before, hook.projectId);
    await before.pollToEnd(runId);
    await eventually(async () => (await deliveriesOf(before, hook.projectId))[0]?.error === 'network_error');
    await first.stop();
    const second = await startStack({ dataDir, env });
    const back = await startHttpTarget(Number(new URL(down.url).port));
    try {
      const requests = await eventually(() => back.requests.length === 2 && back.requests);
      assert.deepEqual(typesOf(requests, runId), BOTH);
      for (const request of requests) verify(request, hook.secret);
    } finally {
      await back.close();
      await second.stop();
    }
  });

  it('an API that is killed between send and record sends the event again, with the same id and the same bytes', async () => {
    const stack = await startStack();
    const target = await startHttpTarget();
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const hook = await createHook(api, target, [{ status: 200, delayMs: 60_000 }, { status: 200 }]);
      const runId = await startRun(api, hook.projectId);
      await eventually(() => target.requestsTo(hook.path).length === 1);
      await api.pollToEnd(runId);
      const killed = stack.stack.pids.api!;
      process.kill(killed, 'SIGKILL');
      const requests = await eventually(
        () => target.requestsTo(hook.path).length === 3 && target.requestsTo(hook.path),
        { timeoutMs: 45_000 },
      );
      assert.notEqual(stack.stack.pids.api, killed);
      assert.deepEqual(typesOf(requests), [BOTH[0], ...BOTH], 'the second event has waited for the first');
      const [lost, again] = requests;
      assert.equal(again!.headers['webhook-id'], lost!.headers['webhook-id']);
      assert.equal(again!.body, lost!.body);
      verify(again!, hook.secret);
      await eventually(async () => {
        const log = await deliveriesOf(api, hook.projectId);
        return log.map(({ status, attempts }) => `${status} ${attempts}`).join() === 'delivered 2,delivered 1';
      });
    } finally {
      await target.close();
      await stack.stop();
    }
  });

  it('an API that is stopped during an attempt ends in time, with code 0', async () => {
    const stack = await startStack();
    const target = await startHttpTarget();
    try {
      const account = await createAccount(stack);
      const hook = await createHook(account.api, target, [{ delayMs: 60_000 }]);
      // The stack's own API is stopped, so that `other` makes the attempt.
      process.kill(stack.stack.pids.api!, 'SIGSTOP');
      const other = await startApiProcess(stack, { ALLOW_PRIVATE_NETWORK: 'true' });
      await startRun(createApiClient(other.apiUrl, account.apiKey), hook.projectId);
      await eventually(() => target.requestsTo(hook.path).length === 1);
      const stoppedAt = Date.now();
      assert.equal(await other.stop(), 0);
      assert.ok(Date.now() - stoppedAt < 60_000, `ended after ${Date.now() - stoppedAt} ms`);
      await eventually(() => target.requestsTo(hook.path)[0]!.aborted);
      const errors = 'SELECT error_code FROM webhook_deliveries WHERE project_id = $1 AND error_code IS NOT NULL';
      assert.deepEqual(
        await queryDatabase(stack, errors, [hook.projectId]),
        [],
        'the attempt was cut off before its own time limit',
      );
    } finally {
      process.kill(stack.stack.pids.api!, 'SIGCONT');
      await target.close();
      await stack.stop();
    }
  });

  it('a private address is refused on send, by number and by name, where private networks are not allowed', async () => {
    const stack = await startStack({ env: { ALLOW_PRIVATE_NETWORK: 'false', WEBHOOK_RETRY_SCHEDULE: '0.2' } });
    const target = await startHttpTarget();
    try {
      const api = createApiClient(stack.apiUrl, stack.apiKey);
      const { port } = new URL(target.url);
      for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
        const fields = { name: host, webhook_url: 'https://example.com/', is_webhook_enabled: true };
        const { body } = await api.post<{ id: number }>('/projects/', { body: fields });
        // Simulates an address that was saved while private networks were allowed.
        const url = `http://${host}:${port}/inside`;
        await queryDatabase(stack, 'UPDATE projects SET webhook_url = $1 WHERE id = $2', [url, body.id]);
        await startRun(api, body.id);
        const [first] = await eventually(async () => {
          const log = await deliveriesOf(api, body.id);
          return log[0]?.status === 'failed' && log;
        });
        assert.deepEqual([first!.error, first!.attempts, first!.response_status], ['blocked_address', 2, null], host);
      }
      assert.deepEqual(target.requests, []);
    } finally {
      await target.close();
      await stack.stop();
    }
  });
});
