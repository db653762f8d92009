// Locks for changes of the schema while the service works. Waits for them are short, because a statement that waits for
// the lock of a table blocks all later statements on that table.
import { sql, type Migration } from 'kysely';
import type { Database, Db } from '../core/client.js';

/**
 * The time that a statement waits for a lock. It is less than PostgreSQL's `deadlock_timeout` (1 s), so that in a
 * deadlock with a transaction of the service the change of the schema gives way.
 */
const LOCK_TIMEOUT = '200ms';
const MAX_PAUSE_S = 0.5;
/** SQLSTATEs of `lock_timeout` and of a deadlock. */
const LOCK_CODES = ['55P03', '40P01'];

/** Repeats work that got no lock, after random pauses, until `deadline` by `performance.now()`. */
export async function patiently<T>(db: Database, deadline: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockTrouble(error) || performance.now() >= deadline) throw error;
    }
    await sql`SELECT pg_sleep(random() * ${MAX_PAUSE_S}::float8)`.execute(db);
  }
}

/** The timeout applies until the end of the transaction. */
export async function setLockTimeout(trx: Parameters<Migration['up']>[0] | Db): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(trx);
}

function isLockTrouble(error: unknown): boolean {
  return LOCK_CODES.includes(String(((error ?? {}) as { code?: unknown }).code));
}
