// `npm run migrate`: migrates the database of DATABASE_URL. Any number of processes may run it at once.
import { parseEnvironment, required } from '../config/environment.js';
import { createDatabase } from '../db/core/client.js';
import { migrateToLatest } from '../db/core/migrate.js';
import { exitWith } from './exit.js';

try {
  const url = required(parseEnvironment(process.env), 'databaseUrl', 'DATABASE_URL');
  const db = createDatabase({ url, poolMax: 1, applicationName: 'migrate', onError: () => undefined });
  try {
    const applied = await migrateToLatest(db);
    process.stdout.write(
      `${applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}.`}\n`,
    );
  } finally {
    await db.destroy();
  }
} catch (error) {
  exitWith(error);
}
