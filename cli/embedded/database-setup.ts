import type { Environment } from '../../config/environment.js';
import { openFiles } from '../../files/open-files.js';
import { createDatabase } from '../../db/core/client.js';
import { migrateToLatest, OtherBuildError } from '../../db/schema/migrate.js';
import { createSecretBox } from '../../db/core/secret-box.js';
import { ensureSamples } from '../samples/ensure-samples.js';
import type { SampleSettings } from '../samples/samples-file.js';
import { ensureLocalUser, type LocalUser } from './local-user.js';
import type { StackSecrets } from './secrets-file.js';
import { StartError } from './start-error.js';

interface DatabaseSetup {
  dataDir: string;
  secrets: StackSecrets;
  secretsKeys: Buffer[];
  samples: SampleSettings;
  environment: Pick<Environment, 'fileStore' | 'maxFileBytes'>;
}

/** Migrates the database and creates the local user and the samples, before the API and the worker start. */
export async function setUpDatabase(url: string, setup: DatabaseSetup): Promise<LocalUser> {
  const { dataDir, secrets, secretsKeys, samples, environment } = setup;
  const db = createDatabase({ url, poolMax: 2, applicationName: 'supervisor', onError: () => undefined });
  try {
    await migrateToLatest(db);
    const user = await ensureLocalUser(db, dataDir, secrets);
    const files = openFiles(db, secretsKeys, environment);
    const owner = { userId: user.userId, dataDir, secretBox: createSecretBox(secretsKeys), files };
    await ensureSamples(db, owner, samples);
    return user;
  } catch (error) {
    if (error instanceof StartError) throw error;
    if (error instanceof OtherBuildError) throw new StartError(`DATA_DIR, DATABASE_URL: ${error.message}.`);
    throw new StartError(`The database could not be set up (${describe(error)}): see DATABASE_URL.`, { cause: error });
  } finally {
    await db.destroy();
  }
}

/** A connection that fails on all addresses of a host throws an AggregateError without a message. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return String((error.errors as unknown[])[0]);
  return error instanceof Error ? error.message : String(error);
}
