import assert from 'node:assert/strict';
import { createDatabase, type Database, type Db } from '../../../db/core/client.js';
import { deleteSettledDeliveries } from '../../../db/retention/retention-repository.js';
import { claimDeliveries, recordDelivered, recordRetry } from '../../../db/webhooks/webhook-deliveries-repository.js';
import { createApiClient } from '../../../harness/client/api-client.js';
import { chain } from '../../../harness/drawing/drawing.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';

/** The transactions are never committed, so no process of the stack takes the due events. */
describe('webhook deliveries', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let db: Database;
  let projectId: number;
  let runId: string;

  before(async () => {
    stack = await sharedStack();
    db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 2,
      applicationName: 'test',
      onError: () => undefined,
    });
    ({ projectId, runId } = await createApiClient(stack.apiUrl, stack.apiKey).runToEnd(chain(1)));
  });
  after(() => db.destroy());

  const limits = { inFlight: new Map<number, number>(), perProject: 3, total: 100, leaseSeconds: 20 };

  /** The claimed events of the project. The events of other tests may be due, too. */
  async function claim(trx: Db, within: typeof limits) {
    return (await claimDeliveries(trx, within)).filter((delivery) => delivery.project_id === projectId);
  }

  /** Runs `use` with the due events of `runs` runs in the project, and rolls them back. */
  async function withEvents(runs: number, use: (trx: Db) => Promise<void>): Promise<void> {
    const undone = new Error('undone');
    const attempt = db.transaction().execute(async (trx) => {
      const {
        snapshot_hash: hash,
        workflow_id: workflow,
        user_id: user,
      } = await trx
        .selectFrom('runs')
        .select(['snapshot_hash', 'workflow_id', 'user_id'])
        .where('id', '=', runId)
        .executeTakeFirstOrThrow();
      for (let index = 0; index < runs; index++) {
        const id = crypto.randomUUID();
        await trx
          .insertInto('runs')
          .values({
            id,
            workflow_id: workflow,
            project_id: projectId,
            user_id: user,
            status: 'Error',
            snapshot_hash: hash,
            input: '{}',
            run_finished_at: new Date(),
          })
          .execute();
        const events = (['workflow_run.started', 'workflow_run.failed'] as const).map((type) => ({
          project_id: projectId,
          run_id: id,
          type,
          payload: '{}',
          next_attempt_at: new Date(0),
        }));
        await trx.insertInto('webhook_deliveries').values(events).execute();
      }
      await use(trx);
      throw undone;
    });
    await assert.rejects(attempt, (error) => error === undone);
  }

  it('of each run the first event only, of a project no more than it may have under way', () =>
    withEvents(5, async (trx) => {
      const first = await claim(trx, limits);
      assert.deepEqual(
        first.map(({ type, attempts }) => [type, attempts]),
        Array.from({ length: 3 }, () => ['workflow_run.started', 1]),
      );
      assert.equal(new Set(first.map((delivery) => delivery.run_id)).size, 3);
      const full = new Map([[projectId, 3]]);
      assert.deepEqual(await claim(trx, { ...limits, inFlight: full }), []);
      const oneFree = new Map([[projectId, 2]]);
      assert.equal((await claim(trx, { ...limits, inFlight: oneFree })).length, 1);
      assert.equal((await claim(trx, { ...limits, total: 0 })).length, 0);
    }));

  it('a leased event is left alone until its lease is over', () =>
    withEvents(1, async (trx) => {
      const [delivery] = await claim(trx, limits);
      assert.deepEqual(await claim(trx, limits), []);
      await trx
        .updateTable('webhook_deliveries')
        .set({ leased_until: new Date(0) })
        .where('run_id', '=', delivery!.run_id)
        .execute();
      const [again] = await claim(trx, limits);
      assert.deepEqual([again!.id, again!.attempts], [delivery!.id, 2]);
    }));

  it('the record of an attempt that was taken over changes nothing, unless it was delivered', () =>
    withEvents(1, async (trx) => {
      const [late] = await claim(trx, limits);
      const { id } = late!;
      await trx
        .updateTable('webhook_deliveries')
        .set({ leased_until: new Date(0) })
        .where('id', '=', id)
        .execute();
      await claim(trx, limits);
      const read = () =>
        trx
          .selectFrom('webhook_deliveries')
          .select(['status', 'leased_until'])
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
      await recordRetry(trx, late!, { status: 500, errorCode: 'http_status' }, 0);
      assert.notEqual((await read()).leased_until, null);
      await recordDelivered(trx, late!, { status: 200, errorCode: null });
      assert.deepEqual(await read(), { status: 'delivered', leased_until: null });
      const [next] = await claim(trx, limits);
      assert.deepEqual([next!.run_id, next!.type], [late!.run_id, 'workflow_run.failed']);
    }));

  it('settled events are forgotten with age, pending ones never', () =>
    withEvents(1, async (trx) => {
      const [delivery] = await claim(trx, limits);
      await recordDelivered(trx, delivery!, { status: 200, errorCode: null });
      const rows = () =>
        trx.selectFrom('webhook_deliveries').select('status').where('run_id', '=', delivery!.run_id).execute();
      await deleteSettledDeliveries(trx, 30, 10_000);
      assert.equal((await rows()).length, 2);
      const longAgo = { created_at: new Date(Date.now() - 31 * 86_400_000) };
      await trx.updateTable('webhook_deliveries').set(longAgo).where('run_id', '=', delivery!.run_id).execute();
      assert.ok(((await deleteSettledDeliveries(trx, 30, 10_000)).expired.webhook_deliveries ?? 0) >= 1);
      assert.deepEqual(await rows(), [{ status: 'pending' }]);
    }));
});
