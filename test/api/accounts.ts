// Creates and changes users of the shared stack directly in the database, as `npm run admin` does.
import { signToken } from '../../cli/admin/session-token.js';
import { readSecrets } from '../../cli/embedded/secrets-file.js';
import { createKey, deleteKey, updateKey, type KeySettings } from '../../db/access/keys-repository.js';
import { createDatabase, type Database } from '../../db/core/client.js';
import { removeMember, setMember } from '../../db/projects/members-repository.js';
import type { Role } from '../../db/core/tables.js';
import { updateUser, type UserChanges } from '../../db/cascades/update-user.js';
import { createUser, setApiAccess } from '../../db/users/users-repository.js';
import { createApiClient, type ApiClient } from '../../harness/client/api-client.js';
import type { TestStack } from '../../harness/stack/stack.js';

export interface Account {
  userId: number;
  keyId: number;
  apiKey: string;
  api: ApiClient;
}

/** Requests a minute that no test reaches, for tests that poll from many clients at once. */
const MORE_THAN_ANY_MINUTE = 1_000_000;

/** Creates a user with a key. With `rateLimit` null, the default rate limit of the service applies to the key. */
export function createAccount(stack: TestStack, rateLimit: number | null = MORE_THAN_ANY_MINUTE): Promise<Account> {
  return withDatabase(stack, async (db) => {
    const user = await createUser(db, { name: 'test user', apiAccess: true });
    const { id, apiKey } = await createKey(db, { userId: user.id, label: 'test', rateLimit });
    return { userId: user.id, keyId: id, apiKey, api: createApiClient(stack.apiUrl, apiKey) };
  });
}

/** Signs a session token for the account's user, valid for an hour. */
export async function openSession(stack: TestStack, { userId }: Account): Promise<{ session: string }> {
  const secrets = readSecrets(stack.dataDir);
  if (secrets === undefined) throw new Error('the stack has no secrets');
  return { session: await signToken(userId, 3600, secrets.JWT_SECRET) };
}

export function giveRole(stack: TestStack, account: Account, projectId: number, role: Role): Promise<void> {
  return withDatabase(stack, (db) => setMember(db, projectId, account.userId, role));
}

export async function removeMembership(stack: TestStack, { userId }: Account, projectId: number): Promise<void> {
  await withDatabase(stack, (db) => removeMember(db, projectId, userId));
}

export async function revokeAccess(stack: TestStack, account: Account): Promise<void> {
  await withDatabase(stack, (db) => setApiAccess(db, account.userId, false));
}

export async function changeUser(stack: TestStack, account: Account, changes: UserChanges): Promise<void> {
  const changed = await withDatabase(stack, (db) => updateUser(db, account.userId, changes));
  if (typeof changed !== 'object') throw new Error(`the user was not changed: ${changed}`);
}

export async function sessionOf(stack: TestStack, account: Account): Promise<ApiClient> {
  return createApiClient(stack.apiUrl, await openSession(stack, account));
}

/** Changes the account's key, for instance restricts it to a project. */
export async function changeKey(stack: TestStack, account: Account, changes: Partial<KeySettings>): Promise<void> {
  await withDatabase(stack, (db) => updateKey(db, account.keyId, changes));
}

/** Creates another key of the account's user, restricted to one project. */
export function restrictedTo(stack: TestStack, projectId: number, { userId }: Account): Promise<Account> {
  return withDatabase(stack, async (db) => {
    const key = { userId, projectId, label: 'restricted', rateLimit: MORE_THAN_ANY_MINUTE };
    const { id, apiKey } = await createKey(db, key);
    return { userId, keyId: id, apiKey, api: createApiClient(stack.apiUrl, apiKey) };
  });
}

export async function removeKey(stack: TestStack, account: Account): Promise<void> {
  await withDatabase(stack, (db) => deleteKey(db, account.keyId));
}

async function withDatabase<T>(stack: TestStack, use: (db: Database) => Promise<T>): Promise<T> {
  const options = { poolMax: 1, applicationName: 'test', onError: () => undefined };
  const db = createDatabase({ url: stack.stack.database_url, ...options });
  try {
    return await use(db);
  } finally {
    await db.destroy();
  }
}
