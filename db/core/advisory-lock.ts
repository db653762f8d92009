// Short transactions that only one process runs at a time (ADR 8).
import { sql, type Transaction } from 'kysely';
import type { Database } from './client.js';
import type { Tables } from './tables.js';

export type LockName = 'audit' | 'files' | 'reconciler' | 'retention' | 'stored-bytes' | 'workflow-changes';

/** SQLSTATE of a cancelled statement; in `withAdvisoryLock`, `statement_timeout` cancels it. */
const QUERY_CANCELED = '57014';
const TIMEOUT = '5s';

/**
 * Runs `work` in a transaction that holds the lock. Returns undefined, and does nothing, while another transaction
 * holds it.
 *
 * The lock ends with the transaction, and timeouts bound the transaction: five seconds for a statement, and five idle
 * seconds between statements, after which the server ends the session. So a holder that is frozen or has lost power
 * blocks the others for seconds only, and finds its transaction rolled back when it continues.
 */
export function withAdvisoryLock<T>(
  db: Database,
  name: LockName,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ isHeld: boolean }>`
      SELECT set_config('statement_timeout', ${TIMEOUT}, true),
        set_config('idle_in_transaction_session_timeout', ${TIMEOUT}, true),
        pg_try_advisory_xact_lock(hashtext('workflow-service'), hashtext(${name})) AS "isHeld"`.execute(trx);
    return rows[0]?.isHeld === true ? await work(trx) : undefined;
  });
}

export function isStatementTimeout(error: unknown): boolean {
  return ((error ?? {}) as { code?: unknown }).code === QUERY_CANCELED;
}
