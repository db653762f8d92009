// A project's own keys for model providers. A key is stored sealed and never shown again.
import { sql, type Selectable } from 'kysely';
import type { Db } from '../core/client.js';
import { inTransaction } from '../core/in-transaction.js';
import type { SecretBox } from '../core/secret-box.js';
import type { Tables } from '../core/tables.js';
import { lockProject } from './lock-project.js';
import { endOfText } from '../../graph/cut-text.js';
import { MASK } from '../../graph/mask-text.js';

interface NewProviderKey {
  projectId: number;
  provider: string;
  key: string;
  /** For people, to tell the keys of a project apart; need not be unique. */
  name: string;
}

const SHOWN = ['id', 'name', 'provider', 'masked_key', 'created_at'] as const;

export type ProviderKeyRecord = Pick<Selectable<Tables['provider_keys']>, (typeof SHOWN)[number]>;

/** The limit on the keys of a project, because the API lists all of them wherever it answers with the project. */
export const MOST_PROVIDER_KEYS = 100;

/** The last characters of a shorter key would reveal too much of it. */
const MASKABLE_LENGTH = 12;

/** Ordered by id. */
export async function pageOfProviderKeys(
  db: Db,
  { projectId, limit, offset }: { projectId: number; limit: number; offset: number },
): Promise<{ total: number; keys: ProviderKeyRecord[] }> {
  const all = db.selectFrom('provider_keys').where('project_id', '=', projectId);
  const { total } = await all.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const keys = await all.select(SHOWN).orderBy('id').limit(limit).offset(offset).execute();
  return { total, keys };
}

/**
 * `gone`: there is no such project. `too_many`: the project has `MOST_PROVIDER_KEYS`, and no key was added. The lock on
 * the project's row makes the count reliable.
 */
export function attachProviderKey(
  db: Db,
  box: SecretBox,
  { projectId, provider, key, name }: NewProviderKey,
): Promise<ProviderKeyRecord | 'gone' | 'too_many'> {
  return inTransaction(db, async (transaction) => {
    if (!(await lockProject(transaction, projectId))) return 'gone';
    const { total } = await pageOfProviderKeys(transaction, { projectId, limit: 0, offset: 0 });
    if (total >= MOST_PROVIDER_KEYS) return 'too_many';
    return transaction
      .insertInto('provider_keys')
      .values({
        project_id: projectId,
        provider,
        name,
        key_enc: box.seal(key, 'provider-key', projectId, provider),
        masked_key: key.length < MASKABLE_LENGTH ? MASK : `${MASK}${endOfText(key, 4)}`,
      })
      .returning(SHOWN)
      .executeTakeFirstOrThrow();
  });
}

/** Returns false if there is no such key, or it belongs to another project than `projectId`. */
export async function detachProviderKey(db: Db, keyId: number, projectId?: number): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('provider_keys')
    .where('id', '=', keyId)
    .$if(projectId !== undefined, (query) => query.where('project_id', '=', projectId!))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function findProviderKey(db: Db, projectId: number, provider: string): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('provider_keys')
    .select('key_enc')
    .where('project_id', '=', projectId)
    .where('provider', '=', provider)
    .orderBy('id', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst();
  return row?.key_enc;
}
