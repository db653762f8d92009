import type { Database } from '../../db/core/client.js';
import { createKey, findKeyHolder } from '../../db/access/keys-repository.js';
import { createUser } from '../../db/users/users-repository.js';
import { forgetSamplesProject } from '../samples/samples-file.js';
import { writeSecrets, type StackSecrets } from './secrets-file.js';

/** Requests per minute, enough for a local page that polls many runs. */
const RATE_LIMIT = 6000;

export interface LocalUser {
  userId: number;
  apiKey: string;
}

/** Creates the local user with a key on the first start. The key is stored with the other secrets. */
export async function ensureLocalUser(db: Database, dataDir: string, secrets: StackSecrets): Promise<LocalUser> {
  const holder = secrets.api_key === undefined ? undefined : await findKeyHolder(db, secrets.api_key);
  if (holder !== undefined) return { userId: holder.userId, apiKey: secrets.api_key! };
  const created = await db.transaction().execute(async (trx) => {
    const user = await createUser(trx, { name: 'local', apiAccess: true, isAdmin: true });
    const { apiKey } = await createKey(trx, { userId: user.id, label: 'local stack', rateLimit: RATE_LIMIT });
    return { userId: user.id, apiKey };
  });
  // Samples of an earlier user do not belong to this one. After a crash before the secrets are written, the next start
  // creates another user.
  forgetSamplesProject(dataDir);
  writeSecrets(dataDir, { ...secrets, api_key: created.apiKey });
  return created;
}
