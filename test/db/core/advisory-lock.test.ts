import assert from 'node:assert/strict';
import { sql, type Transaction } from 'kysely';
import { isStatementTimeout, withAdvisoryLock, type LockName } from '../../../db/core/advisory-lock.js';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { claimRunsToCheck } from '../../../db/runs/runs-repository.js';
import type { Tables } from '../../../db/core/tables.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { sharedStack } from '../../support/shared-stack.js';

describe('the advisory lock', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    const { stack } = await sharedStack();
    const options = { poolMax: 5, applicationName: 'test', onError: () => undefined };
    db = createDatabase({ url: stack.database_url, ...options });
  });
  after(() => db.destroy());

  /** Takes the lock once the stack's own processes release it. An error of `work` is thrown at once. */
  const hold = async <T>(name: LockName, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> => {
    const attempt = () =>
      withAdvisoryLock(db, name, async (trx) => ({ value: await work(trx) })).catch((error: unknown) => ({ error }));
    const outcome = await eventually(attempt);
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };

  it('lets one at a time in, by name, and is free again after the transaction', async () => {
    await hold('retention', async () => {
      assert.equal(await withAdvisoryLock(db, 'retention', () => Promise.resolve('in')), undefined);
      await hold('reconciler', async () => {
        assert.equal(await claimRunsToCheck(db, 1, 1), undefined, 'nobody claims meanwhile');
      });
    });
    assert.equal(await hold('retention', () => Promise.resolve('in')), 'in');
    await assert.rejects(
      hold('retention', () => Promise.reject(new Error('died'))),
      /died/,
    );
    assert.equal(await hold('retention', () => Promise.resolve('in')), 'in');
  });

  it('is taken from a holder that freezes, and what that had done is undone', async () => {
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const table = `frozen_${process.pid}`;
    let isHolding = false;
    const holder = hold('retention', async (trx) => {
      await sql`CREATE TABLE ${sql.table(table)} (id integer)`.execute(trx);
      isHolding = true;
      await frozen;
    });
    const ended = assert.rejects(holder);
    await eventually(() => isHolding);
    assert.equal(await withAdvisoryLock(db, 'retention', () => Promise.resolve('in')), undefined);
    const next = async () => (await withAdvisoryLock(db, 'retention', () => Promise.resolve('in'))) ?? false;
    assert.equal(await eventually(next, { timeoutMs: 20_000 }), 'in');
    thaw();
    await ended;
    const { rows } = await sql<{ found: string | null }>`SELECT to_regclass(${table})::text AS found`.execute(db);
    assert.equal(rows[0]?.found, null);
  });

  it('bounds a statement, not only the silence between two', async () => {
    const error: unknown = await hold('retention', (trx) => sql`SELECT pg_sleep(30)`.execute(trx)).catch(
      (thrown: unknown) => thrown,
    );
    assert.ok(isStatementTimeout(error), String(error));
  });
});
