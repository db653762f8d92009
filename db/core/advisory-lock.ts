// Short transactions that only one process at a time may be in. ADR 8.
import { sql, type Transaction } from 'kysely';
import type { Database } from './client.js';
import type { Tables } from './tables.js';

export type LockName = 'audit' | 'files' | 'reconciler' | 'retention' | 'stored-bytes' | 'workflow-changes';

/** PostgreSQL's code for a statement that ran into `statement_timeout`. */
const QUERY_CANCELED = '57014';
const LIMIT = '5s';

/**
 * Runs `work` in a transaction that holds the lock; undefined, and nothing is done, while another process holds it.
 *
 * The lock ends with the transaction, and no transaction lasts: a statement may take five seconds, and a session that
 * says nothing for as long (its process is stopped, or its machine has lost power) is ended by the server. So a frozen
 * holder keeps the others waiting for seconds, and finds its transaction rolled back when it goes on. The same happens
 * when the process dies: before the commit nothing was done, after it all was.
 */
export function withAdvisoryLock<T>(
  db: Database,
  name: LockName,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T | undefined> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ isHeld: boolean }>`
      SELECT set_config('statement_timeout', ${LIMIT}, true),
        set_config('idle_in_transaction_session_timeout', ${LIMIT}, true),
        pg_try_advisory_xact_lock(hashtext('workflow-service'), hashtext(${name})) AS "isHeld"`.execute(trx);
    return rows[0]?.isHeld === true ? await work(trx) : undefined;
  });
}

export function isStatementTimeout(error: unknown): boolean {
  return ((error ?? {}) as { code?: unknown }).code === QUERY_CANCELED;
}
