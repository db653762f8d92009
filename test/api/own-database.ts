// An API process on a database of its own beside the shared stack, for tests that depend on all rows of a table.
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { createDatabase } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/schema/migrate.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';
import { startApiProcess } from '../../harness/stack/api-process.js';

/** Returns the shared stack with its own API process and database. `stop` ends the process and drops the database. */
export async function stackOnOwnDatabase(env: Record<string, string> = {}): Promise<TestStack> {
  const shared = await sharedStack();
  const name = `own_${randomUUID().replaceAll('-', '')}`;
  await queryDatabase(shared, `CREATE DATABASE ${name}`);
  const url = new URL(shared.stack.database_url);
  url.pathname = `/${name}`;
  const db = createDatabase({ url: url.href, poolMax: 1, applicationName: 'test', onError: () => undefined });
  await migrateToLatest(db);
  await db.destroy();
  const api = await startApiProcess(shared, {
    DATABASE_URL: url.href,
    FILES_DIR: path.join(shared.dataDir, `files-${name}`),
    ...env,
  });
  return {
    ...shared,
    apiUrl: api.apiUrl,
    stack: { ...shared.stack, database_url: url.href },
    async stop() {
      await api.stop();
      await queryDatabase(shared, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}
