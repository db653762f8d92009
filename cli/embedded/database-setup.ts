import { createDatabase } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/core/migrate.js';
import { ensureLocalUser, type LocalUser } from './local-user.js';
import type { StackSecrets } from './secrets-file.js';
import { StartError } from './start-error.js';

/** Applies the migrations and creates the local user, before the API and the worker start. */
export async function setUpDatabase(url: string, dataDir: string, secrets: StackSecrets): Promise<LocalUser> {
  const db = createDatabase({ url, poolMax: 2, applicationName: 'supervisor', onError: () => undefined });
  try {
    await migrateToLatest(db);
    return await ensureLocalUser(db, dataDir, secrets);
  } catch (error) {
    throw new StartError(`The database could not be set up (${describe(error)}): see DATABASE_URL.`, { cause: error });
  } finally {
    await db.destroy();
  }
}

/** A connection that fails on every address of a host is an AggregateError without a message of its own. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return String((error.errors as unknown[])[0]);
  return error instanceof Error ? error.message : String(error);
}
