// `npm run migrate`: migrates the database of DATABASE_URL. Several processes may run it at the same time.
import { ConfigError, parseEnvironment, required } from '../config/environment.js';
import { createDatabase } from '../db/core/client.js';
import { migrateToLatest, OtherBuildError } from '../db/schema/migrate.js';
import { grantRuntimeRights, RuntimeRoleError } from '../db/schema/runtime-rights.js';
import { exitWith } from './exit.js';

try {
  const environment = parseEnvironment(process.env);
  const url = required(environment, 'databaseUrl', 'DATABASE_URL');
  const db = createDatabase({ url, poolMax: 1, applicationName: 'migrate', onError: () => undefined });
  try {
    const applied = await migrateToLatest(db);
    const { databaseRuntimeRole: role } = environment;
    if (role !== undefined) await grantRuntimeRights(db, role);
    process.stdout.write(
      `${applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`}\n`,
    );
  } finally {
    await db.destroy();
  }
} catch (error) {
  exitWith(describe(error));
}

/** Errors that the operator can fix are printed as one sentence. */
function describe(error: unknown): unknown {
  if (error instanceof RuntimeRoleError) return new ConfigError(`DATABASE_RUNTIME_ROLE: ${error.message}.`);
  if (error instanceof OtherBuildError) return new ConfigError(`DATABASE_URL: ${error.message}.`);
  return error;
}
