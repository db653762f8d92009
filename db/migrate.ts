import { Migrator, type Migration, type MigrationProvider } from 'kysely';
import type { Database } from './client.js';
import * as initial from './migrations/0001-initial.js';
import * as idempotencyKeys from './migrations/0002-idempotency-keys.js';
import * as runFlagsAndCounts from './migrations/0002-run-flags-and-counts.js';
import * as catalog from './migrations/0003-catalog.js';
import * as agents from './migrations/0004-agents.js';
import * as webhooks from './migrations/0005-webhooks.js';
import * as rateLimits from './migrations/0006-rate-limits.js';
import * as retention from './migrations/0007-retention.js';
import * as resultSizes from './migrations/0009-result-sizes.js';
import * as workflowChanges from './migrations/0010-workflow-changes.js';
import * as runTraces from './migrations/0011-run-traces.js';
import * as runChecksIndex from './migrations/0012-run-checks-index.js';

/** In order of their names, for ever: a migration that has shipped is never edited. */
const migrations: Record<string, Migration> = {
  '0001-initial': initial,
  '0002-idempotency-keys': idempotencyKeys,
  '0002-run-flags-and-counts': runFlagsAndCounts,
  '0003-catalog': catalog,
  '0004-agents': agents,
  '0005-webhooks': webhooks,
  '0006-rate-limits': rateLimits,
  '0007-retention': retention,
  '0009-result-sizes': resultSizes,
  '0010-workflow-changes': workflowChanges,
  '0011-run-traces': runTraces,
  '0012-run-checks-index': runChecksIndex,
};

const provider: MigrationProvider = { getMigrations: () => Promise.resolve(migrations) };

/** Applies what is missing, each in its transaction; several processes may call it at once (advisory lock). */
export async function migrateToLatest(db: Database): Promise<string[]> {
  const { error, results } = await new Migrator({ db, provider }).migrateToLatest();
  if (error !== undefined) throw error instanceof Error ? error : new Error('migration failed', { cause: error });
  return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName);
}

/** Names of the migrations that the database lacks; all of them for an empty one. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const known = await new Migrator({ db, provider }).getMigrations();
  return known.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}
