// A database of its own beside that of the shared stack, for tests of the schema.
import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/schema/migrate.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

/** Calls `use` with the address of an empty database, and with the shared stack on that database. */
export async function withEmptyDatabase<T>(use: (url: string, stack: TestStack) => Promise<T>): Promise<T> {
  const shared = await sharedStack();
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await queryDatabase(shared, `CREATE DATABASE ${name}`);
  const url = new URL(shared.stack.database_url);
  url.pathname = `/${name}`;
  try {
    return await use(url.href, { ...shared, stack: { ...shared.stack, database_url: url.href } });
  } finally {
    await queryDatabase(shared, `DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** Calls `use` with a database after all migrations. */
export function withMigratedDatabase<T>(use: (db: Database, stack: TestStack) => Promise<T>): Promise<T> {
  return withEmptyDatabase(async (url, stack) => {
    const db = createDatabase({ url, poolMax: 4, applicationName: 'test', onError: () => undefined });
    try {
      await migrateToLatest(db);
      return await use(db, stack);
    } finally {
      await db.destroy();
    }
  });
}
