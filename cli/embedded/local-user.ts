import type { Database } from '../../db/core/client.js';
import { createKey, findKeyHolder } from '../../db/access/keys-repository.js';
import { createUser, findUser, type UserRow } from '../../db/users/users-repository.js';
import { forgetSamplesProject } from '../samples/samples-file.js';
import { writeSecrets, type KnownUser, type StackSecrets } from './secrets-file.js';

/** Requests per minute, enough for a local page that polls many runs. */
const RATE_LIMIT = 6000;

export interface LocalUser {
  userId: number;
  apiKey: string;
}

/**
 * Creates the local user with a key on the first start in a database. The key is stored with the other secrets. If the
 * key was deleted, the user gets a new one.
 */
export async function ensureLocalUser(db: Database, dataDir: string, secrets: StackSecrets): Promise<LocalUser> {
  const { api_key: stored, local_user: known } = secrets;
  const holder = stored === undefined ? undefined : await findKeyHolder(db, stored);
  const id = holder?.userId ?? known?.id;
  const found = id === undefined ? undefined : await findUser(db, id);
  if (holder !== undefined && isSame(known, found)) return { userId: holder.userId, apiKey: stored! };
  const earlier = holder !== undefined || isSame(known, found) ? found : undefined;
  const { user, apiKey } = await db.transaction().execute(async (trx) => {
    const local = earlier ?? (await createUser(trx, { name: 'local', apiAccess: true, isAdmin: true }));
    if (holder !== undefined) return { user: local, apiKey: stored! };
    const key = { userId: local.id, label: 'local stack', rateLimit: RATE_LIMIT };
    return { user: local, ...(await createKey(trx, key)) };
  });
  // Samples of an earlier user do not belong to this one. After a crash before the secrets are written, the next start
  // creates another user.
  if (earlier === undefined) forgetSamplesProject(dataDir);
  const local = { id: user.id, created_at: user.created_at.toISOString() };
  writeSecrets(dataDir, { ...secrets, api_key: apiKey, local_user: local });
  return { userId: user.id, apiKey };
}

/** The user of another database may have the same id, but has another time of creation. */
function isSame(known: KnownUser | undefined, user: UserRow | undefined): boolean {
  return known !== undefined && known.id === user?.id && known.created_at === user.created_at.toISOString();
}
