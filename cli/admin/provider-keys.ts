// A project's own keys for model providers. A key is stored encrypted and never shown again.
import { createSecretBox } from '../../db/core/secret-box.js';
import {
  attachProviderKey,
  detachProviderKey,
  MOST_PROVIDER_KEYS,
} from '../../db/projects/provider-keys-repository.js';
import { AdminError, type AdminContext } from './context.js';
import { creation, recorded } from './recorded.js';

interface NewProviderKey {
  project: number;
  provider: string;
  key: string;
  name: string;
}

export async function addProviderKey(context: AdminContext, added: NewProviderKey): Promise<object> {
  const { project, provider, key, name } = added;
  if (key === '') throw new AdminError('--key must not be empty.');
  const box = createSecretBox(context.secretsKeys());
  return recorded(context, { action: 'provider_key.added', type: 'provider_key', ...creation }, async (trx) => {
    const attached = await attachProviderKey(trx, box, { projectId: project, provider, key, name });
    if (attached === 'gone') throw new AdminError(`There is no project ${project}.`);
    if (attached === 'too_many') throw new AdminError(`Project ${project} has ${MOST_PROVIDER_KEYS} keys already.`);
    return attached;
  });
}

export function dropProviderKey(context: AdminContext, id: number): Promise<object> {
  return recorded(context, { action: 'provider_key.removed', type: 'provider_key', key: { id } }, async (trx) => {
    if (!(await detachProviderKey(trx, id))) throw new AdminError(`There is no provider key ${id}.`);
    return { id, deleted: true };
  });
}
