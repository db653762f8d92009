// API keys: 256 random bits, shown once, stored as their SHA-256.
import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '../core/client.js';

/** Who a key speaks for. `rateLimit` (requests a minute) null means DEFAULT_RATE_LIMIT. */
export interface KeyHolder {
  keyId: number;
  rateLimit: number | null;
  userId: number;
  apiAccess: boolean;
}

export interface KeyListing {
  id: number;
  label: string;
  /** The last four characters. */
  hint: string;
  rateLimit: number | null;
  createdAt: Date;
}

interface NewKey {
  userId: number;
  label: string;
  rateLimit: number | null;
}

const PREFIX = 'wfa_';

/** The only time that the key itself is known. */
export async function createKey(db: Db, key: NewKey): Promise<{ id: number; apiKey: string }> {
  const apiKey = PREFIX + randomBytes(32).toString('base64url');
  const { id } = await db
    .insertInto('api_keys')
    .values({
      user_id: key.userId,
      label: key.label,
      key_hash: hashKey(apiKey),
      key_hint: apiKey.slice(-4),
      rate_limit: key.rateLimit,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, apiKey };
}

export function listKeys(db: Db, userId: number): Promise<KeyListing[]> {
  return db
    .selectFrom('api_keys')
    .select(['id', 'label', 'key_hint as hint', 'rate_limit as rateLimit', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
}

/** False when there is no such key. */
export async function deleteKey(db: Db, keyId: number): Promise<boolean> {
  const result = await db.deleteFrom('api_keys').where('id', '=', keyId).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Looked up by hash, so the comparison needs no constant time: an attacker cannot steer the hash of a guess. */
export function findKeyHolder(db: Db, apiKey: string): Promise<KeyHolder | undefined> {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .select([
      'api_keys.id as keyId',
      'api_keys.rate_limit as rateLimit',
      'users.id as userId',
      'users.api_access as apiAccess',
    ])
    .where('api_keys.key_hash', '=', hashKey(apiKey))
    .executeTakeFirst();
}

export function hashKey(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey).digest();
}
