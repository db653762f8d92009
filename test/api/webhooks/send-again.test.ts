import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiAnswer, ApiClient } from '../../../harness/client/api-client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { startHttpTarget, type HttpTarget } from '../../../harness/target/http-target.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';
import { createAccount } from '../accounts.js';
import { NOT_FOUND, type Detail } from '../bodies.js';
import { createHook, deliveriesOf, startRun, verify, type Delivery, type Hook } from '../webhook-receiver.js';

describe('a webhook event that is sent again', function () {
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

  const sendAgain = <T = Delivery>(hook: Hook, id: string, by = api): Promise<ApiAnswer<T>> =>
    by.post<T>(`/projects/${hook.projectId}/webhook-deliveries/${id}/send-again/`);
  /** Waits until both events of a run are settled, and returns them. */
  const settled = (hook: Hook): Promise<Delivery[]> =>
    eventually(async () => {
      const all = await deliveriesOf(api, hook.projectId);
      return all.length === 2 && all.every(({ status }) => status !== 'pending') && all;
    });
  const giveUp = async (id: string): Promise<void> => {
    const text = `UPDATE webhook_deliveries SET status = 'failed', delivered_at = NULL, response_status = 500,
      error_code = 'http_status' WHERE id = $1`;
    await queryDatabase(stack, text, [id]);
  };

  it('is answered 202, comes under the same id with the same bytes, newly signed, and is delivered', async () => {
    const hook = await createHook(api, target);
    await startRun(api, hook.projectId);
    const [, last] = await settled(hook);
    await giveUp(last!.id);
    const { status, body } = await sendAgain(hook, last!.id);
    assert.deepEqual([status, body.id, body.status], [202, last!.id, 'pending']);
    const [, again] = await settled(hook);
    assert.deepEqual(
      [again!.status, again!.attempts, again!.response_status, again!.error],
      ['delivered', 2, 200, null],
    );
    const requests = target.requestsTo(hook.path).filter(({ headers }) => headers['webhook-id'] === last!.id);
    assert.equal(requests.length, 2);
    assert.equal(requests[0]!.body, requests[1]!.body);
    assert.equal(verify(requests[1]!, hook.secret).type, 'workflow_run.succeeded');
  });

  it('a delivered event may be sent again; delivered_at stays, even if the new attempt fails', async () => {
    const hook = await createHook(api, target, [{ status: 200 }, { status: 200 }, { status: 500 }]);
    await startRun(api, hook.projectId);
    const [first] = await settled(hook);
    assert.equal((await sendAgain(hook, first!.id)).status, 202);
    const [again] = await eventually(async () => {
      const all = await settled(hook);
      return all[0]!.attempts === 2 && all;
    });
    assert.deepEqual([again!.status, again!.response_status, again!.next_attempt_at], ['failed', 500, null]);
    assert.equal(again!.delivered_at, first!.delivered_at, 'one attempt is made, without retries');
  });

  it('is sent once for a double click, and once for ten at the same moment', async () => {
    const hook = await createHook(api, target);
    await startRun(api, hook.projectId);
    const [first, last] = await settled(hook);
    assert.equal((await sendAgain(hook, first!.id)).status, 202);
    await settled(hook);
    const repeated = await sendAgain(hook, first!.id);
    assert.deepEqual([repeated.status, repeated.body.status, repeated.body.attempts], [202, 'delivered', 2]);
    const clicks = await Promise.all(Array.from({ length: 10 }, () => sendAgain(hook, last!.id)));
    assert.deepEqual([...new Set(clicks.map(({ status }) => status))], [202]);
    const [one, two] = await settled(hook);
    assert.deepEqual([one!.attempts, two!.attempts], [2, 2]);
    assert.equal(target.requestsTo(hook.path).length, 4);
  });

  it('an event that is pending is left to its schedule', async () => {
    const hook = await createHook(api, target);
    await startRun(api, hook.projectId);
    const [, last] = await settled(hook);
    const text = `UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now() + interval '1 hour' WHERE id = $1`;
    await queryDatabase(stack, text, [last!.id]);
    const [, pending] = await deliveriesOf(api, hook.projectId);
    const { status, body } = await sendAgain(hook, last!.id);
    assert.deepEqual([status, body], [202, pending]);
  });

  it('400 while the webhook is off, and nothing is sent', async () => {
    const hook = await createHook(api, target);
    await startRun(api, hook.projectId);
    const [first] = await settled(hook);
    for (const off of [{ is_webhook_enabled: false }, { webhook_url: '' }]) {
      await api.patch(`/projects/${hook.projectId}/`, { body: off });
      const { status, body } = await sendAgain<Detail>(hook, first!.id);
      assert.deepEqual([status, body.code], [400, 'webhook_disabled']);
    }
    assert.deepEqual((await deliveriesOf(api, hook.projectId))[0], first);
  });

  it('404: an unknown event, and one of another project', async () => {
    const [hook, other] = [await createHook(api, target), await createHook(api, target)];
    await startRun(api, hook.projectId);
    const [first] = await settled(hook);
    for (const id of [randomUUID(), 'x']) {
      const answer = await sendAgain<Detail>(hook, id);
      assert.deepEqual([answer.status, answer.body], [404, NOT_FOUND]);
    }
    assert.equal((await sendAgain(other, first!.id)).status, 404);
    assert.equal(target.requestsTo(hook.path).length, 2);
  });
});
