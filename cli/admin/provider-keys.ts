// A project's own keys for model providers; a key is stored encrypted and never shown again.
import { createSecretBox } from '../../db/core/secret-box.js';
import { attachProviderKey, detachProviderKey, MOST_PROVIDER_KEYS } from '../../db/projects/provider-key-changes.js';
import { AdminError, type AdminContext } from './context.js';

export interface NewProviderKey {
  project: number;
  provider: string;
  key: string;
  name: string;
}

export async function addProviderKey(context: AdminContext, added: NewProviderKey): Promise<object> {
  const { project, provider, key, name } = added;
  if (key === '') throw new AdminError('--key must not be empty.');
  const box = createSecretBox(context.secretsKeys());
  const attached = await attachProviderKey(context.db, box, { projectId: project, provider, key, name });
  if (attached === 'gone') throw new AdminError(`There is no project ${project}.`);
  if (attached === 'too_many') throw new AdminError(`Project ${project} has ${MOST_PROVIDER_KEYS} keys already.`);
  return attached;
}

export async function dropProviderKey({ db }: AdminContext, id: number): Promise<object> {
  if (!(await detachProviderKey(db, id))) throw new AdminError(`There is no provider key ${id}.`);
  return { id, deleted: true };
}
