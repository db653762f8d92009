import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { enqueueWebhookEvent } from '../../../db/webhooks/webhook-outbox-repository.js';
import type { ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { chain, drawing, http, link, llm, trigger } from '../../../harness/drawing/drawing.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import type { Page, Project } from '../bodies.js';
import { createHook, deliveriesOf, renewSecret, startRun, typesOf, type Delivery } from '../webhook-receiver.js';

describe('webhooks of a project', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let api: ApiClient;
  let target: HttpTarget;

  before(async () => {
    stack = await sharedStack();
    ({ api } = await createAccount(stack));
    target = await startHttpTarget();
  });
  after(() => target.close());

  const secretOf = async (id: number): Promise<Buffer | null> => {
    const text = 'SELECT webhook_secret_enc AS secret FROM projects WHERE id = $1';
    const rows = await queryDatabase<{ secret: Buffer | null }>(stack, text, [id]);
    return rows[0]!.secret;
  };

  it('a secret is shown as whsec_ and base64 of 32 bytes, a new one each time, and never again', async () => {
    const id = await api.createProject();
    const answer = await api.post<{ webhook_secret: string }>(`/projects/${id}/webhook-secret/`);
    assert.deepEqual([answer.status, Object.keys(answer.body)], [201, ['webhook_secret']]);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const secret = answer.body.webhook_secret;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.notEqual(await renewSecret(api, id), secret);
    for (const path of [`/projects/${id}/`, '/projects/']) {
      const { body } = await api.get(path);
      assert.ok(!/whsec_|secret/.test(JSON.stringify(body)));
    }
  });

  it('a webhook that is switched on without a secret gets one at that moment', async () => {
    const fields = { webhook_url: `${target.url}/unused`, is_webhook_enabled: true };
    const born = await api.post<Project>('/projects/', { body: { name: 'on', ...fields } });
    const later = await api.createProject();
    assert.ok(await secretOf(born.body.id));
    assert.equal(await secretOf(later), null);
    await api.patch(`/projects/${later}/`, { body: fields });
    const made = await secretOf(later);
    assert.ok(made);
    await api.patch(`/projects/${later}/`, { body: { is_webhook_enabled: false } });
    await api.patch(`/projects/${later}/`, { body: { is_webhook_enabled: true } });
    assert.deepEqual(await secretOf(later), made, 'kept when it is switched off and on again');
  });

  it('the log lists every event of a run, newest first, with what became of it', async () => {
    const hook = await createHook(api, target);
    const runId = await startRun(api, hook.projectId);
    const log = await eventually(async () => {
      const { body } = await api.get<Page<Delivery>>(`/projects/${hook.projectId}/webhook-deliveries/`);
      return body.items.length === 2 && body.items.every(({ status }) => status === 'delivered') ? body : false;
    });
    assert.deepEqual([log.page, log.size, log.total], [1, 10, 2]);
    const [last, first] = log.items;
    assert.deepEqual([first!.type, last!.type], ['workflow_run.started', 'workflow_run.succeeded']);
    const { id, created_at: createdAt, delivered_at: deliveredAt, ...rest } = last!;
    assert.deepEqual(rest, {
      type: 'workflow_run.succeeded',
      run_id: runId,
      status: 'delivered',
      attempts: 1,
      response_status: 200,
      error: null,
      next_attempt_at: null,
    });
    assert.equal(target.requestsTo(hook.path)[1]!.headers['webhook-id'], id);
    assert.ok(new Date(createdAt) <= new Date(deliveredAt!));
    const { body: page } = await api.get<Page<Delivery>>(
      `/projects/${hook.projectId}/webhook-deliveries/?page=2&size=1`,
    );
    assert.deepEqual(page, { page: 2, size: 1, total: 2, items: [first] });
  });

  it('a run that fails and a run that is cancelled are told as such', async () => {
    const hook = await createHook(api, target);
    const failing = [trigger(), http(`${target.url}/status/404/webhooks`)];
    link(failing[0]!, failing[1]!);
    const failed = await startRun(api, hook.projectId, drawing(failing));
    const slow = [trigger(), http(`${target.url}/delay/60000/webhooks`)];
    link(slow[0]!, slow[1]!);
    const workflowId = await api.createWorkflow(hook.projectId, drawing(slow));
    const cancelled = (await api.run(workflowId)).data.id;
    await eventually(() => typesOf(target.requestsTo(hook.path), cancelled).length === 1);
    await api.post(`/workflows/${workflowId}/history/${cancelled}/cancel/`);
    await eventually(() => target.requestsTo(hook.path).length === 4);
    const received = target.requestsTo(hook.path);
    assert.deepEqual(typesOf(received, failed), ['workflow_run.started', 'workflow_run.failed']);
    assert.deepEqual(typesOf(received, cancelled), ['workflow_run.started', 'workflow_run.cancelled']);
  });

  it('a run that validation refuses sends nothing, nor does a project whose webhook is off', async () => {
    const hook = await createHook(api, target);
    const invalid = await api.createWorkflow(hook.projectId, drawing([llm('')]));
    assert.equal((await api.run(invalid)).status, 422);
    const off = await api.post<Project>('/projects/', { body: { name: 'off', webhook_url: target.url + hook.path } });
    const runId = await startRun(api, off.body.id);
    await api.pollToEnd(runId);
    assert.deepEqual(await deliveriesOf(api, off.body.id), []);
    assert.deepEqual(await deliveriesOf(api, hook.projectId), []);
  });

  for (const [how, change] of [
    ['switched off', { is_webhook_enabled: false }],
    ['unset', { webhook_url: '' }],
  ] as const) {
    it(`what is not delivered when the webhook is ${how} is dropped, and says so`, async () => {
      const hook = await createHook(api, target, [{ status: 503 }]);
      await api.pollToEnd(await startRun(api, hook.projectId));
      await eventually(async () => (await deliveriesOf(api, hook.projectId))[0]?.response_status === 503);
      await api.patch(`/projects/${hook.projectId}/`, { body: change });
      const log = await deliveriesOf(api, hook.projectId);
      assert.deepEqual(
        log.map(({ status, error, next_attempt_at: next }) => [status, error, next]),
        log.map(() => ['dropped', 'webhook_disabled', null]),
      );
      assert.equal(log.length, 2);
    });
  }

  it('what is not delivered when the project is deleted is dropped', async () => {
    const hook = await createHook(api, target, [{ status: 503 }]);
    await api.pollToEnd(await startRun(api, hook.projectId));
    await api.delete(`/projects/${hook.projectId}/`);
    const text = 'SELECT status FROM webhook_deliveries WHERE project_id = $1';
    const rows = await queryDatabase<{ status: string }>(stack, text, [hook.projectId]);
    assert.deepEqual(rows, [{ status: 'dropped' }, { status: 'dropped' }]);
  });

  it('an event that was written while its webhook was being switched off is dropped, not sent', async () => {
    const hook = await createHook(api, target, [{ status: 503 }]);
    await api.pollToEnd(await startRun(api, hook.projectId));
    await eventually(async () => (await deliveriesOf(api, hook.projectId))[0]?.response_status === 503);
    const made = target.requestsTo(hook.path).length;
    const off = 'UPDATE projects SET is_webhook_enabled = false WHERE id = $1';
    const due = "UPDATE webhook_deliveries SET next_attempt_at = now() WHERE project_id = $1 AND status = 'pending'";
    for (const text of [off, due]) await queryDatabase(stack, text, [hook.projectId]);
    await eventually(async () => {
      const log = await deliveriesOf(api, hook.projectId);
      return log.length === 2 && log.every(({ status, error }) => `${status} ${error}` === 'dropped webhook_disabled');
    });
    assert.equal(target.requestsTo(hook.path).length, made);
  });

  it('an approval is told in the transaction that asks for it: not when that is rolled back, not after the end', async () => {
    const hook = await createHook(api, target, [{ status: 503 }]);
    const slow = chain(2, () => http(`${target.url}/delay/60000/${randomUUID()}`));
    const workflowId = await api.createWorkflow(hook.projectId, slow);
    const runId = (await api.run(workflowId)).data.id;
    const event = { type: 'agent_approval.requested', runId } as const;
    const told = async (): Promise<string[]> => (await deliveriesOf(api, hook.projectId)).map(({ type }) => type);
    await eventually(async () => (await told()).length === 1);
    const db = connect(stack);
    try {
      const rollBack = db.transaction().execute(async (trx) => {
        await enqueueWebhookEvent(trx, event);
        throw new Error('rolled back');
      });
      await assert.rejects(rollBack, /rolled back/);
      assert.deepEqual(await told(), ['workflow_run.started']);
      await enqueueWebhookEvent(db, event);
      await api.post(`/workflows/${workflowId}/history/${runId}/cancel/`);
      await api.pollToEnd(runId);
      await enqueueWebhookEvent(db, event);
      assert.deepEqual(await told(), ['workflow_run.started', event.type, 'workflow_run.cancelled']);
    } finally {
      await db.destroy();
    }
  });

  it('two events of a run that are written at once are numbered in the order of their commits', async () => {
    const hook = await createHook(api, target, [{ status: 503 }]);
    const runId = await startRun(api, hook.projectId);
    await api.pollToEnd(runId);
    const db = connect(stack);
    try {
      let second: Promise<void> | undefined;
      await db.transaction().execute(async (trx) => {
        await enqueueWebhookEvent(trx, { type: 'workflow_run.failed', runId });
        second = enqueueWebhookEvent(db, { type: 'workflow_run.cancelled', runId });
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(trx);
        await eventually(async () => {
          const waiting = 'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
          return (await queryDatabase(stack, waiting, [rows[0]!.pid])).length === 1;
        });
      });
      await second;
      const types = (await deliveriesOf(api, hook.projectId)).map(({ type }) => type);
      assert.deepEqual(types.slice(2), ['workflow_run.failed', 'workflow_run.cancelled']);
    } finally {
      await db.destroy();
    }
  });
});

function connect(stack: TestStack): Database {
  const options = { poolMax: 2, applicationName: 'test', onError: () => undefined };
  return createDatabase({ url: stack.stack.database_url, ...options });
}
