// What retention deletes of signing in. docs/operate/operations.md, "Retention".
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import { deleteRows, toBatch, type Batch } from './retention-repository.js';

/** So long a network counts as known after the last session from it, too. */
const SESSION_DAYS = 30;

/** Sessions that were over for a month, links that nobody can use, minutes of failed logins that are over. */
export async function deleteOldSignIns(db: Db, limit: number): Promise<Batch> {
  const over = sql`coalesce(ended_at, expires_at) < now() - make_interval(hours => 24 * ${SESSION_DAYS}::integer)`;
  const expired = {
    sessions: await deleteRows(db, 'sessions', over, limit),
    sign_in_links: await deleteRows(db, 'sign_in_links', sql`expires_at <= now()`, limit),
    login_failures: await deleteRows(db, 'login_failures', sql`ends_at <= now()`, limit),
    login_waits: await deleteRows(db, 'login_waits', sql`ends_at <= now()`, limit),
  };
  return toBatch(expired, limit);
}
