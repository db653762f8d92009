// Maps idempotency keys to the runs that they started: keys that clients send, and keys that are made for calls of
// tools and deliveries of hooks.
import { sql } from 'kysely';
import type { Db } from '../core/client.js';
import type { StoredRunStatus } from '../core/tables.js';

/** A key is unique within its user. */
export interface RequestKey {
  userId: number;
  key: string;
}

export interface KeyedRun {
  runId: string;
  status: StoredRunStatus;
  /** JSON text; only for `Draft`. */
  nodeErrors: string | null;
  requestEnc: Buffer;
}

/** Keys older than this are ignored. */
const oldest = sql<Date>`now() - interval '24 hours'`;
/** Each new key deletes up to this many expired ones. Retention deletes the others (`deleteIdempotencyKeys`). */
const SWEEP = 10;

/** Returns undefined if the key is new, was withdrawn or has expired. */
export function findKeyedRun(db: Db, { userId, key }: RequestKey): Promise<KeyedRun | undefined> {
  return db
    .selectFrom('idempotency_keys as used')
    .innerJoin('runs as run', 'run.id', 'used.run_id')
    .select(['run.id as runId', 'run.status', 'used.request_enc as requestEnc'])
    .select((row) => row.cast<string | null>('run.node_errors', 'text').as('nodeErrors'))
    .where('used.user_id', '=', userId)
    .where('used.key', '=', key)
    .where('used.created_at', '>', oldest)
    .executeTakeFirst();
}

/**
 * Claims a key for a run that is inserted in the same transaction. Waits for a concurrent claim; returns false if the
 * key was withdrawn, or another request has it. A process that dies before the commit has claimed nothing.
 */
export async function claimKey(
  transaction: Db,
  { userId, key }: RequestKey,
  { runId, requestEnc }: { runId: string; requestEnc: Buffer },
): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO idempotency_keys AS used (user_id, key, request_enc, run_id)
    VALUES (${userId}, ${key}, ${requestEnc}, ${runId})
    ON CONFLICT (user_id, key) DO UPDATE
      SET request_enc = excluded.request_enc, run_id = excluded.run_id, created_at = excluded.created_at
      WHERE used.created_at <= ${oldest}
    RETURNING true`.execute(transaction);
  if (rows.length === 0) return false;
  await sweep(transaction);
  return true;
}

/**
 * Withdraws a key, so that no request with it starts a run. Waits for a concurrent claim; returns false, and changes
 * nothing, if the key is stored already: for a run, as withdrawn, or expired and not deleted yet.
 */
export async function withdrawKey(db: Db, { userId, key }: RequestKey, requestEnc: Buffer): Promise<boolean> {
  const withdrawn = await db
    .insertInto('idempotency_keys')
    .values({ user_id: userId, key, request_enc: requestEnc, run_id: null })
    .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
    .returning('key')
    .executeTakeFirst();
  if (withdrawn === undefined) return false;
  await sweep(db);
  return true;
}

export async function isWithdrawn(db: Db, { userId, key }: RequestKey): Promise<boolean> {
  const withdrawn = await db
    .selectFrom('idempotency_keys')
    .select('key')
    .where('user_id', '=', userId)
    .where('key', '=', key)
    .where('run_id', 'is', null)
    .where('created_at', '>', oldest)
    .executeTakeFirst();
  return withdrawn !== undefined;
}

async function sweep(db: Db): Promise<void> {
  await sql`
    DELETE FROM idempotency_keys WHERE (user_id, key) IN (
      SELECT user_id, key FROM idempotency_keys WHERE created_at <= ${oldest}
      ORDER BY created_at LIMIT ${sql.lit(SWEEP)} FOR UPDATE SKIP LOCKED)`.execute(db);
}
