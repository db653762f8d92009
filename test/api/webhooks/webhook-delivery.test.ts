import assert from 'node:assert/strict';
import { createApiClient, type ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { startStack, type TestStack } from '../../../harness/stack/stack.js';
import { startApiProcess } from '../../../harness/stack/api-process.js';
import type { Project } from '../bodies.js';
import {
  createHook,
  deliveriesOf,
  renewSecret,
  startRun,
  typesOf,
  verify,
  type Delivery,
  type Hook,
} from '../webhook-receiver.js';

const RETRIES = '0.2,0.4,0.6,0.8';
const BOTH = ['workflow_run.started', 'workflow_run.succeeded'];

describe('webhook delivery', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await startStack({ env: { WEBHOOK_RETRY_SCHEDULE: RETRIES, LOG_LEVEL: 'debug' } });
    api = createApiClient(stack.apiUrl, stack.apiKey);
    target = await startHttpTarget();
  });
  after(async () => {
    await target.close();
    await stack.stop();
  });

  const received = (hook: Hook, count: number) =>
    eventually(() => {
      const requests = target.requestsTo(hook.path);
      return requests.length >= count ? requests : false;
    });

  const settled = (hook: Hook, timeoutMs = 60_000): Promise<Delivery[]> =>
    eventually(
      async () => {
        const log = await deliveriesOf(api, hook.projectId);
        return log.length === 2 && log.every(({ status }) => status !== 'pending') ? log : false;
      },
      { timeoutMs },
    );

  it('each event is signed as Standard Webhooks asks, and says which run came to which status', async () => {
    const hook = await createHook(api, target);
    const workflowId = await api.createWorkflow(hook.projectId, chain(1));
    const runId = (await api.run(workflowId)).data.id;
    const requests = await received(hook, 2);
    const events = requests.map((request) => verify(request, hook.secret));
    const data = { run_id: runId, workflow_id: workflowId, project_id: hook.projectId };
    assert.deepEqual(
      events.map(({ type, data: told }) => ({ type, data: told })),
      [
        { type: 'workflow_run.started', data: { ...data, status: 'In Progress' } },
        { type: 'workflow_run.succeeded', data: { ...data, status: 'Succeeded' } },
      ],
    );
    for (const [index, { timestamp, ...rest }] of events.entries()) {
      assert.deepEqual(Object.keys(rest), ['type', 'data']);
      assert.equal(new Date(timestamp).toISOString(), timestamp);
      const { method, headers } = requests[index]!;
      assert.deepEqual([method, headers['content-type']], ['POST', 'application/json']);
      assert.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 60);
      assert.throws(() => verify({ ...requests[index]!, body: `${requests[index]!.body} ` }, hook.secret));
    }
  });

  it('a receiver that fails three times gets the event on the fourth, with the same id and the same bytes', async () => {
    const hook = await createHook(api, target, [{ status: 500 }, { reset: true }, { status: 404 }, { status: 204 }]);
    await startRun(api, hook.projectId);
    const requests = await received(hook, 5);
    assert.deepEqual(typesOf(requests), [...Array.from({ length: 4 }, () => BOTH[0]), BOTH[1]]);
    const attempts = requests.slice(0, 4);
    for (const request of attempts) verify(request, hook.secret);
    assert.equal(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size, 1);
    assert.equal(new Set(attempts.map(({ body }) => body)).size, 1);
    const [first] = await settled(hook);
    assert.deepEqual([first!.status, first!.attempts, first!.response_status], ['delivered', 4, 204]);
  });

  it('after the last attempt of the schedule the event is given up and the next one of the run is sent', async () => {
    const hook = await createHook(api, target, [
      ...Array.from({ length: 5 }, () => ({ status: 503 })),
      { status: 200 },
    ]);
    await startRun(api, hook.projectId);
    const [first, second] = await settled(hook);
    assert.deepEqual([first!.status, first!.attempts, first!.error], ['failed', 5, 'http_status']);
    assert.deepEqual([first!.response_status, first!.next_attempt_at], [503, null]);
    assert.deepEqual([second!.status, second!.attempts], ['delivered', 1]);
  });

  it('the events of each run arrive in order, whatever fails on the way', async () => {
    const hook = await createHook(api, target, []);
    let call = 0;
    target.on(hook.path, () => ({ status: call++ % 3 === 0 ? 503 : 200, delayMs: (call * 37) % 90 }));
    const workflowId = await api.createWorkflow(hook.projectId, chain(1));
    const runs = await Promise.all(Array.from({ length: 12 }, async () => (await api.run(workflowId)).data.id));
    await eventually(async () => {
      const log = await deliveriesOf(api, hook.projectId);
      return log.length === 24 && log.every(({ status }) => status === 'delivered');
    });
    for (const runId of runs) {
      const types = typesOf(target.requestsTo(hook.path), runId);
      assert.ok(types.lastIndexOf(BOTH[0]!) < types.indexOf(BOTH[1]!), types.join());
    }
  });

  it('410 turns the webhook off and drops what was waiting', async () => {
    const hook = await createHook(api, target, [{ status: 410, delayMs: 1_500 }]);
    await api.pollToEnd(await startRun(api, hook.projectId));
    const [first, second] = await settled(hook);
    assert.deepEqual([first!.status, first!.response_status, first!.attempts], ['failed', 410, 1]);
    assert.deepEqual([second!.status, second!.attempts, second!.error], ['dropped', 0, 'webhook_disabled']);
    const { body } = await api.get<Project>(`/projects/${hook.projectId}/`);
    assert.deepEqual([body.is_webhook_enabled, body.webhook_url], [false, target.url + hook.path]);
    await api.pollToEnd(await startRun(api, hook.projectId));
    assert.equal(target.requestsTo(hook.path).length, 1);
  });

  it('an address that is changed gets what the old one did not take, and a late 410 of the old one switches nothing off', async () => {
    const hook = await createHook(api, target, [{ status: 410, delayMs: 1_500 }]);
    const runId = await startRun(api, hook.projectId);
    await received(hook, 1);
    const moved = { ...hook, path: `${hook.path}/moved` };
    target.on(moved.path, { status: 200 });
    await api.patch(`/projects/${hook.projectId}/`, { body: { webhook_url: target.url + moved.path } });
    const requests = await received(moved, 2);
    assert.deepEqual(typesOf(requests, runId), BOTH);
    verify(requests[0]!, hook.secret);
    assert.equal(requests[0]!.headers['webhook-id'], target.requestsTo(hook.path)[0]!.headers['webhook-id']);
    assert.equal((await api.get<Project>(`/projects/${hook.projectId}/`)).body.is_webhook_enabled, true);
  });

  it('a secret that no key opens any more is a failed attempt, and a new secret mends it', async () => {
    const hook = await createHook(api, target);
    const unreadable = "UPDATE projects SET webhook_secret_enc = '\\x00' WHERE id = $1";
    await queryDatabase(stack, unreadable, [hook.projectId]);
    await startRun(api, hook.projectId);
    await eventually(async () => (await deliveriesOf(api, hook.projectId))[0]?.error === 'secret_unreadable');
    const secret = await renewSecret(api, hook.projectId);
    verify((await received(hook, 1))[0]!, secret);
  });

  it('a redirect is a failed attempt and is not followed', async () => {
    const location = `${target.url}/hooks/elsewhere`;
    const hook = await createHook(api, target, [
      { status: 302, headers: { location } },
      { status: 308, headers: { location } },
      { status: 200 },
    ]);
    await startRun(api, hook.projectId);
    const [first] = await settled(hook);
    assert.deepEqual([first!.status, first!.attempts], ['delivered', 3]);
    assert.deepEqual(target.requestsTo('/hooks/elsewhere'), []);
  });

  it('Retry-After is obeyed', async () => {
    const hook = await createHook(api, target, [{ status: 429, headers: { 'retry-after': '2' } }, { status: 200 }]);
    await startRun(api, hook.projectId);
    const [first, second] = await received(hook, 2);
    const waitedMs = second!.receivedAt - first!.receivedAt;
    assert.ok(waitedMs >= 1_900, String(waitedMs));
  });

  it('what the receiver answers is ignored, however long it is', async () => {
    const hook = await createHook(api, target, [{ status: 200, body: Buffer.alloc(30 * 1024 * 1024, 'x') }]);
    await startRun(api, hook.projectId);
    assert.deepEqual(
      (await settled(hook)).map(({ status, attempts }) => [status, attempts]),
      [
        ['delivered', 1],
        ['delivered', 1],
      ],
    );
  });

  it('a receiver that never answers is left after 15 seconds and keeps nobody else waiting', async () => {
    const silent = await createHook(api, target, [{ delayMs: 60_000 }]);
    const quick = await createHook(api, target);
    const workflowId = await api.createWorkflow(silent.projectId, chain(1));
    await Promise.all(Array.from({ length: 20 }, () => api.run(workflowId)));
    await received(silent, 8);
    await startRun(api, quick.projectId);
    await received(quick, 2);
    assert.equal(
      target.requestsTo(silent.path).some(({ aborted }) => aborted),
      false,
      'before the silent receiver was given up on',
    );
    const timedOut = await eventually(
      async () => (await deliveriesOf(api, silent.projectId)).find(({ error }) => error !== null),
      { timeoutMs: 30_000, intervalMs: 200 },
    );
    assert.deepEqual([timedOut.error, timedOut.response_status], ['timeout', null]);
    await eventually(() => target.requestsTo(silent.path)[0]!.aborted);
    await api.delete(`/projects/${silent.projectId}/`);
  });

  it('after a rotation both secrets sign for a day, so that the receiver can change in peace', async () => {
    const hook = await createHook(api, target);
    const next = await renewSecret(api, hook.projectId);
    await startRun(api, hook.projectId);
    const [first] = await received(hook, 1);
    for (const secret of [next, hook.secret]) verify(first!, secret);
    assert.equal(String(first!.headers['webhook-signature']).split(' ').length, 2);
    const dayOld = "UPDATE projects SET webhook_secret_shown_at = now() - interval '25 hours' WHERE id = $1";
    await queryDatabase(stack, dayOld, [hook.projectId]);
    await startRun(api, hook.projectId);
    const third = (await received(hook, 4))[2]!;
    verify(third, next);
    assert.throws(() => verify(third, hook.secret));
  });

  it('a secret that nobody has seen does not sign beside the first one that is shown', async () => {
    const hook = await createHook(api, target);
    await startRun(api, hook.projectId);
    const [first] = await received(hook, 1);
    assert.equal(String(first!.headers['webhook-signature']).split(' ').length, 1);
  });

  it('several API processes send each attempt once', async () => {
    const second = await startApiProcess(stack, { ALLOW_PRIVATE_NETWORK: 'true', WEBHOOK_RETRY_SCHEDULE: RETRIES });
    try {
      const before = await attemptsMade([stack.apiUrl, second.apiUrl]);
      const hook = await createHook(api, target, [{ status: 200, delayMs: 100 }]);
      const workflowId = await api.createWorkflow(hook.projectId, chain(1));
      await Promise.all(Array.from({ length: 40 }, () => api.run(workflowId)));
      await received(hook, 80);
      const idle =
        "SELECT count(*)::integer AS count FROM webhook_deliveries WHERE project_id = $1 AND status = 'delivered'";
      await eventually(async () => {
        const [row] = await queryDatabase<{ count: number }>(stack, idle, [hook.projectId]);
        return row!.count === 80;
      });
      const ids = target.requestsTo(hook.path).map(({ headers }) => headers['webhook-id']);
      assert.deepEqual([ids.length, new Set(ids).size], [80, 80]);
      const made = (await attemptsMade([stack.apiUrl, second.apiUrl])).map((count, index) => count - before[index]!);
      assert.equal(made[0]! + made[1]!, 80);
      assert.ok(
        made.every((count) => count > 0),
        `both took part: ${made.join()}`,
      );
    } finally {
      assert.equal(await second.stop(), 0);
    }
  });

  it('secrets and the receiver`s address are in no log, the secret in no row and no answer', async () => {
    const hook = await createHook(api, target, [{ status: 500 }, { status: 200 }]);
    await api.patch(`/projects/${hook.projectId}/`, {
      body: { webhook_url: `${target.url}${hook.path}?token=canary-4711` },
    });
    await startRun(api, hook.projectId);
    await settled(hook);
    assert.equal(target.requestsTo(hook.path)[0]!.query['token'], 'canary-4711');
    const rows = await queryDatabase(stack, 'SELECT p::text FROM projects p WHERE id = $1', [hook.projectId]);
    const events = await queryDatabase(stack, 'SELECT d::text FROM webhook_deliveries d');
    const log = await api.get(`/projects/${hook.projectId}/webhook-deliveries/`);
    const project = await api.get(`/projects/${hook.projectId}/`);
    const metrics = await (await fetch(`${stack.apiUrl}/metrics`)).text();
    const raw = hook.secret.replace('whsec_', '');
    for (const [place, content] of Object.entries({ rows, events, log, project, metrics, logs: stack.logs() })) {
      const text = JSON.stringify(content);
      assert.ok(!text.includes(raw.slice(0, 20)), `${place} holds the secret`);
      assert.ok(!text.includes(Buffer.from(raw, 'base64').toString('hex')), `${place} holds the secret in hex`);
      assert.ok(place === 'rows' || place === 'project' || !text.includes('canary-4711'), `${place} holds the address`);
    }
    assert.match(stack.logs(), /webhook event retried/);
    assert.match(metrics, /webhook_attempts_total\{outcome="retried"\} [1-9]/);
  });
});

async function attemptsMade(apiUrls: string[]): Promise<number[]> {
  const texts = await Promise.all(apiUrls.map(async (url) => (await fetch(`${url}/metrics`)).text()));
  return texts.map((text) => Number(/webhook_attempts_total\{outcome="delivered"\} (\d+)/.exec(text)?.[1] ?? 0));
}
