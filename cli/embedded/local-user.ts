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
 * Creates the local user with a key on the first start in a database. The key is stored with the other secrets. If that
 * key was deleted, or belongs to another database, the local user of this database gets a new one.
 */
export async function ensureLocalUser(db: Database, dataDir: string, secrets: StackSecrets): Promise<LocalUser> {
  const { api_key: stored, local_users: users = [] } = secrets;
  const holder = stored === undefined ? undefined : await findKeyHolder(db, stored);
  const earlier = holder === undefined ? await findAmong(db, users) : await findUser(db, holder.userId);
  if (holder !== undefined && isSame(users.at(-1), earlier)) return { userId: holder.userId, apiKey: stored! };
  const { user, apiKey } = await db.transaction().execute(async (trx) => {
    const local = earlier ?? (await createUser(trx, { name: 'local', apiAccess: true, isAdmin: true }));
    if (holder !== undefined) return { user: local, apiKey: stored! };
    return {
      user: local,
      ...(await createKey(trx, { userId: local.id, label: 'local stack', rateLimit: RATE_LIMIT })),
    };
  });
  // Samples of another user do not belong to this one. After a crash before the secrets are written, the next start
  // creates another user.
  if (holder === undefined && !isSame(users.at(-1), user)) forgetSamplesProject(dataDir);
  const others = users.filter((each) => !isSame(each, user));
  const newest = { id: user.id, created_at: user.created_at.toISOString() };
  writeSecrets(dataDir, { ...secrets, api_key: apiKey, local_users: [...others, newest] });
  return { userId: user.id, apiKey };
}

/** Returns the one of the users that this database has. */
async function findAmong(db: Database, users: readonly KnownUser[]): Promise<UserRow | undefined> {
  for (const known of users) {
    const user = await findUser(db, known.id);
    if (isSame(known, user)) return user;
  }
  return undefined;
}

/** Users of two databases may have the same id, but they have other times of creation. */
function isSame(known: KnownUser | undefined, user: UserRow | undefined): boolean {
  return known !== undefined && known.id === user?.id && known.created_at === user.created_at.toISOString();
}
