import { Migrator, sql, type Migration } from 'kysely';
import type { Database } from '../core/client.js';
import * as accountsAndProjects from '../migrations/0001-accounts-and-projects.js';
import * as workflows from '../migrations/0002-workflows.js';
import * as runs from '../migrations/0003-runs.js';
import * as nodes from '../migrations/0004-nodes.js';
import * as agents from '../migrations/0005-agents.js';
import * as humanTasks from '../migrations/0006-human-tasks.js';
import * as marketplace from '../migrations/0007-marketplace.js';
import * as webhooks from '../migrations/0008-webhooks.js';
import * as sessions from '../migrations/0009-sessions.js';
import * as hooksAndSchedules from '../migrations/0010-hooks-and-schedules.js';
import * as money from '../migrations/0011-money.js';
import * as auditLog from '../migrations/0012-audit-log.js';
import * as storedBytes from '../migrations/0013-stored-bytes.js';
import * as runVersions from '../migrations/0014-run-versions.js';
import * as connections from '../migrations/0015-connections.js';
import * as sealedHeaders from '../migrations/0016-sealed-headers.js';
import * as trying from '../migrations/0017-trying.js';
import * as files from '../migrations/0018-files.js';
import * as deltas from '../migrations/0019-deltas.js';
import * as conversations from '../migrations/0020-conversations.js';
import * as toolTasks from '../migrations/0021-tool-tasks.js';
import * as sealedAddresses from '../migrations/0022-sealed-addresses.js';
import * as refusedTools from '../migrations/0023-refused-tools.js';
import * as lostAttempts from '../migrations/0024-lost-attempts.js';
import * as limitsOfCases from '../migrations/0025-limits-of-cases.js';
import * as exactQuota from '../migrations/0026-exact-quota.js';

/** In order of their names, for ever: a migration that has shipped is never edited. */
const migrations: Record<string, Migration> = {
  '0001-accounts-and-projects': accountsAndProjects,
  '0002-workflows': workflows,
  '0003-runs': runs,
  '0004-nodes': nodes,
  '0005-agents': agents,
  '0006-human-tasks': humanTasks,
  '0007-marketplace': marketplace,
  '0008-webhooks': webhooks,
  '0009-sessions': sessions,
  '0010-hooks-and-schedules': hooksAndSchedules,
  '0011-money': money,
  '0012-audit-log': auditLog,
  '0013-stored-bytes': storedBytes,
  '0014-run-versions': runVersions,
  '0015-connections': connections,
  '0016-sealed-headers': sealedHeaders,
  '0017-trying': trying,
  '0018-files': files,
  '0019-deltas': deltas,
  '0020-conversations': conversations,
  '0021-tool-tasks': toolTasks,
  '0022-sealed-addresses': sealedAddresses,
  '0023-refused-tools': refusedTools,
  '0024-lost-attempts': lostAttempts,
  '0025-limits-of-cases': limitsOfCases,
  '0026-exact-quota': exactQuota,
};

/**
 * A statement of a migration waits this long for a lock. A wait for an exclusive lock keeps everybody behind it waiting,
 * too. And it is less than PostgreSQL's `deadlock_timeout` (1 s): of a migration and a transaction of the service that wait
 * for each other, the migration gives way.
 */
const LOCK_TIMEOUT = '200ms';
/** A migration that got no lock is begun again for this long, each time after a pause of up to MAX_PAUSE_S. */
const PATIENCE_MS = 120_000;
const MAX_PAUSE_S = 0.5;
/** PostgreSQL's codes for a statement that ran into `lock_timeout`, and for one that ends a deadlock. */
const LOCK_CODES = ['55P03', '40P01'];

interface MigrateOptions {
  /** By name; by default those that ship. */
  readonly all?: Record<string, Migration>;
  readonly patienceMs?: number;
}

/**
 * Applies what is missing, each in its transaction; several processes may call it at once (advisory lock), while the
 * service works. A migration that does not get a lock is rolled back and begun again, for two minutes; then PostgreSQL's
 * error is thrown, and the migrations before it stay.
 */
export async function migrateToLatest(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { all = migrations, patienceMs = PATIENCE_MS } = options;
  const migrator = migratorOf(db, all);
  const deadline = performance.now() + patienceMs;
  const applied: string[] = [];
  for (;;) {
    const { error, results } = await migrator.migrateUp();
    if (error === undefined) {
      const [result] = results ?? [];
      if (result === undefined) return applied;
      applied.push(result.migrationName);
    } else if (isLockTrouble(error) && performance.now() < deadline) {
      await sql`SELECT pg_sleep(random() * ${MAX_PAUSE_S}::float8)`.execute(db);
    } else {
      throw error instanceof Error ? error : new Error('migration failed', { cause: error });
    }
  }
}

/** Names of the migrations that the database lacks; all of them for an empty one. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const known = await migratorOf(db, migrations).getMigrations();
  return known.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

function migratorOf(db: Database, all: Record<string, Migration>): Migrator {
  const patient = Object.entries(all).map(([name, migration]) => [name, withLockTimeout(migration)]);
  return new Migrator({ db, provider: { getMigrations: () => Promise.resolve(Object.fromEntries(patient)) } });
}

/** The limit begins with the migration: the migrator's own lock, which another one may hold for long, is waited for. */
function withLockTimeout(migration: Migration): Migration {
  return {
    async up(db) {
      await sql`SELECT set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(db);
      await migration.up(db);
    },
  };
}

function isLockTrouble(error: unknown): boolean {
  return LOCK_CODES.includes(String(((error ?? {}) as { code?: unknown }).code));
}
