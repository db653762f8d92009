// A database of its own beside that of the shared stack, for tests of the schema.
import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '../../db/core/client.js';
import { migrateToLatest } from '../../db/schema/migrate.js';
import { queryDatabase } from '../support/inspect.js';
import { sharedStack } from '../support/shared-stack.js';
import type { TestStack } from '../../harness/stack/stack.js';

interface OwnDatabase {
  url: string;
  drop: () => Promise<void>;
}

async function createEmptyDatabase(): Promise<OwnDatabase> {
  const shared = await sharedStack();
  const name = `empty_${randomUUID().replaceAll('-', '')}`;
  await queryDatabase(shared, `CREATE DATABASE ${name}`);
  const url = new URL(shared.stack.database_url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    drop: async () => {
      await queryDatabase(shared, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** Creates a database and applies all migrations. */
export async function createMigratedDatabase(): Promise<OwnDatabase> {
  const own = await createEmptyDatabase();
  const db = connect(own.url);
  await migrateToLatest(db);
  await db.destroy();
  return own;
}

/** Creates an empty database, and calls `use` with its URL and with a copy of the shared stack that has this URL. */
export async function withEmptyDatabase<T>(use: (url: string, stack: TestStack) => Promise<T>): Promise<T> {
  const shared = await sharedStack();
  const { url, drop } = await createEmptyDatabase();
  try {
    return await use(url, { ...shared, stack: { ...shared.stack, database_url: url } });
  } finally {
    await drop();
  }
}

/** Like `withEmptyDatabase`, but applies all migrations first. */
export function withMigratedDatabase<T>(use: (db: Database, stack: TestStack) => Promise<T>): Promise<T> {
  return withEmptyDatabase(async (url, stack) => {
    const db = connect(url);
    try {
      await migrateToLatest(db);
      return await use(db, stack);
    } finally {
      await db.destroy();
    }
  });
}

function connect(url: string): Database {
  return createDatabase({ url, poolMax: 4, applicationName: 'test', onError: () => undefined });
}
