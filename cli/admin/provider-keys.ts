// A project's own keys for model providers; a key is stored encrypted and never shown again.
import { createSecretBox } from '../../db/core/secret-box.js';
import { requireProject } from './accounts.js';
import { AdminError, type AdminContext } from './context.js';

export interface NewProviderKey {
  project: number;
  provider: string;
  key: string;
  name: string;
}

/** The last characters of a shorter key would reveal too much of it. */
const MASKABLE_LENGTH = 12;

export async function attachProviderKey(context: AdminContext, added: NewProviderKey): Promise<object> {
  const { project, provider, key, name } = added;
  if (key === '') throw new AdminError('--key must not be empty.');
  await requireProject(context, project);
  return context.db
    .insertInto('provider_keys')
    .values({
      project_id: project,
      provider,
      name,
      key_enc: createSecretBox(context.secretsKeys()).seal(key, 'provider-key'),
      masked_key: key.length < MASKABLE_LENGTH ? '********' : `********${key.slice(-4)}`,
    })
    .returning(['id', 'name', 'provider', 'masked_key', 'created_at'])
    .executeTakeFirstOrThrow();
}

export async function detachProviderKey({ db }: AdminContext, id: number): Promise<object> {
  const { numDeletedRows } = await db.deleteFrom('provider_keys').where('id', '=', id).executeTakeFirst();
  if (numDeletedRows === 0n) throw new AdminError(`There is no provider key ${id}.`);
  return { id, deleted: true };
}
