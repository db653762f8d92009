// API keys: 256 random bits, shown once and stored as SHA-256.
import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { KeyScope } from '../core/tables.js';

export type KeyListing = NonNullable<Awaited<ReturnType<typeof findKey>>>;

export interface KeySettings {
  label: string;
  projectId?: number | null | undefined;
  scope?: KeyScope | undefined;
  expiresAt?: Date | null | undefined;
  rateLimit?: number | null | undefined;
}

type NewKey = KeySettings & { userId: number };
type CreatedKey = KeyListing & { apiKey: string };

const LISTED = [
  'id',
  'user_id as userId',
  'label',
  'key_hint as hint',
  'project_id as projectId',
  'scope',
  'expires_at as expiresAt',
  'rate_limit as rateLimit',
  'created_at as createdAt',
] as const;

const PREFIX = 'wfa_';

/** Returns the key itself, which cannot be read again later. */
export async function createKey(db: Db, key: NewKey): Promise<CreatedKey> {
  const apiKey = PREFIX + randomBytes(32).toString('base64url');
  const created = await db
    .insertInto('api_keys')
    .values({ user_id: key.userId, ...toColumns(key), key_hash: hashKey(apiKey), key_hint: apiKey.slice(-4) })
    .returning(LISTED)
    .executeTakeFirstOrThrow();
  return { ...created, apiKey };
}

/** Returns undefined if the user already has `most` keys. The lock on the user's row makes the count reliable. */
export function createKeyBelowLimit(db: Db, key: NewKey, most: number): Promise<CreatedKey | undefined> {
  return inTransaction(db, async (transaction) => {
    await transaction.selectFrom('users').select('id').where('id', '=', key.userId).forNoKeyUpdate().execute();
    const keys = await listKeys(transaction, key.userId);
    return keys.length >= most ? undefined : createKey(transaction, key);
  });
}

export function listKeys(db: Db, userId: number): Promise<KeyListing[]> {
  return db.selectFrom('api_keys').select(LISTED).where('user_id', '=', userId).orderBy('id').execute();
}

/** Ordered by id. */
export async function pageOfKeys(
  db: Db,
  { userId, limit, offset }: { userId: number; limit: number; offset: number },
): Promise<{ total: number; keys: KeyListing[] }> {
  const own = db.selectFrom('api_keys').where('user_id', '=', userId);
  const { total } = await own.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const keys = await own.select(LISTED).orderBy('id').limit(limit).offset(offset).execute();
  return { total, keys };
}

export function findKey(db: Db, keyId: number) {
  return db.selectFrom('api_keys').select(LISTED).where('id', '=', keyId).executeTakeFirst();
}

export async function updateKey(db: Db, keyId: number, changes: Partial<KeySettings>): Promise<KeyListing | undefined> {
  const columns = toColumns(changes);
  if (Object.keys(columns).length === 0) return findKey(db, keyId);
  return db.updateTable('api_keys').set(columns).where('id', '=', keyId).returning(LISTED).executeTakeFirst();
}

export async function deleteKey(db: Db, keyId: number): Promise<boolean> {
  const result = await db.deleteFrom('api_keys').where('id', '=', keyId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

function toColumns({ label, projectId, scope, expiresAt, rateLimit }: Partial<KeySettings>) {
  return {
    ...(label === undefined ? {} : { label }),
    ...(projectId === undefined ? {} : { project_id: projectId }),
    ...(scope === undefined ? {} : { scope }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
    ...(rateLimit === undefined ? {} : { rate_limit: rateLimit }),
  };
}

/**
 * Returns the owner of a key, even if the key has expired or the owner is inactive. The key is found by its hash, so
 * the comparison need not take constant time: an attacker cannot control the hash of a guess.
 */
export function findKeyHolder(db: Db, apiKey: string) {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select('users.id as userId')
    .where('api_keys.key_hash', '=', hashKey(apiKey))
    .executeTakeFirst();
}

export function hashKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
