import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { onBehalfOf } from '../../../db/core/tenants.js';
import { together } from '../../../db/core/together.js';
import { ByteBudget } from '../../../memory/byte-budget.js';
import { sharedStack } from '../../support/shared-stack.js';

const CONNECTIONS = 8;
const LOCK = 4_713_201;

describe('connections that tenants share', function () {
  this.timeout(120_000);
  let db: Database;
  let other: Database;

  before(async () => {
    const { stack } = await sharedStack();
    const shares = new ByteBudget({ totalBytes: CONNECTIONS, uncountedBytes: 0 });
    const takeShare = async (tenant: string): Promise<() => void> => {
      const lease = shares.lease(tenant);
      await lease.resize(1);
      return () => lease.end();
    };
    const options = { url: stack.database_url, applicationName: 'tenants-test', onError: () => undefined };
    db = createDatabase({ ...options, poolMax: CONNECTIONS, takeShare });
    other = createDatabase({ ...options, poolMax: 1 });
  });
  after(() => Promise.all([db.destroy(), other.destroy()]));

  it('are left for other tenants, whatever one tenant asks, and work that holds one gets another', async () => {
    await other
      .transaction()
      .execute(async (holder) => {
        await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(holder);
        const asked = Array.from({ length: 3 * CONNECTIONS }, () =>
          onBehalfOf('greedy', () => sql`SELECT pg_advisory_xact_lock_shared(${LOCK})`.execute(db)),
        );
        const batched = together(
          async (questions: number[]) => {
            await sql`SELECT 1`.execute(db);
            return questions;
          },
          { most: 10 },
        );
        const modest = await onBehalfOf('modest', () =>
          db.transaction().execute(async (trx) => {
            await sql`SELECT 1`.execute(trx);
            return (await sql<{ one: number }>`SELECT 1 AS one`.execute(db)).rows[0]?.one;
          }),
        );
        assert.equal(modest, 1);
        assert.equal(await onBehalfOf('greedy', () => batched(5)), 5, 'a batch serves several tenants');
        // The end of the transaction releases the lock, and everybody is served.
        return { asked };
      })
      .then(({ asked }) => Promise.all(asked));
  });
});
