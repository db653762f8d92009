// Updates the schema: applies missing migrations, then functions and triggers that differ from those of this build
// (docs/adr/0031-routines-beside-migrations.md).
import { Migrator, sql, type Migration } from 'kysely';
import type { Database, Db } from '../core/client.js';
import * as baseline from '../migrations/0001-baseline.js';
import * as draftsAndTags from '../migrations/0002-drafts-and-tags.js';
import * as services from '../migrations/0003-services.js';
import * as assistants from '../migrations/0004-assistants.js';
import * as pools from '../migrations/0005-pools.js';
import * as assistantInTheEditor from '../migrations/0006-assistant-in-the-editor.js';
import * as keptBaselines from '../migrations/0007-kept-baselines.js';
import { patiently, setLockTimeout } from './locks.js';
import { applyRoutines, differingRoutines, shippedRoutines, type RoutineFile } from './routines.js';

/** Ordered by name. A migration that has shipped is never edited. */
const migrations: Record<string, Migration> = {
  '0001-baseline': baseline,
  '0002-drafts-and-tags': draftsAndTags,
  '0003-services': services,
  '0004-assistants': assistants,
  '0005-pools': pools,
  '0006-assistant-in-the-editor': assistantInTheEditor,
  '0007-kept-baselines': keptBaselines,
};

/** The time in which the migrations and routines of one call must get their locks; until then they are retried. */
const PATIENCE_MS = 120_000;

/** The database has migrations of another build, and this build cannot update it. */
export class OtherBuildError extends Error {
  override name = 'OtherBuildError';
}

interface MigrateOptions {
  /** By name; the default is the shipped ones. */
  readonly all?: Record<string, Migration>;
  /** The default is the shipped files. */
  readonly routines?: readonly RoutineFile[];
  readonly patienceMs?: number;
}

/**
 * Applies all missing migrations, each in its own transaction, then all differing routine files in one. Returns their
 * names. May be called by several processes at the same time, while the service works. If a lock cannot be acquired,
 * the transaction is rolled back and retried until two minutes after the call. Then PostgreSQL's error is thrown;
 * earlier migrations stay applied. Throws OtherBuildError.
 */
export async function migrateToLatest(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { all = migrations, routines = shippedRoutines(), patienceMs = PATIENCE_MS } = options;
  const deadline = performance.now() + patienceMs;
  const applied: string[] = [];
  for (;;) {
    const names = await patiently(db, deadline, () => applyNextMigration(db, all));
    if (names.length === 0) break;
    applied.push(...names);
  }
  return [...applied, ...(await patiently(db, deadline, () => replaceRoutines(db, all, routines)))];
}

/**
 * Returns the names of missing migrations and of differing routine files; all of them for an empty database. Routines
 * of a newer build do not count: this build works with them until it is replaced.
 */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const executed = await executedMigrations(db);
  const missing = Object.keys(migrations).filter((name) => !executed.includes(name));
  const isNewer = executed.some((name) => !Object.hasOwn(migrations, name));
  const differing = isNewer ? [] : await differingRoutines(db, shippedRoutines());
  return [...missing, ...differing.map(nameOf)];
}

async function applyNextMigration(db: Database, all: Record<string, Migration>): Promise<string[]> {
  const patient = Object.entries(all).map(([name, migration]) => [name, withLockTimeout(migration)]);
  const provider = { getMigrations: () => Promise.resolve(Object.fromEntries(patient)) };
  const { error, results = [] } = await new Migrator({ db, provider }).migrateUp();
  if (error !== undefined) {
    refuseOtherBuilds(await executedMigrations(db), all);
    throw error instanceof Error ? error : new Error('migration failed', { cause: error });
  }
  return results.map(({ migrationName }) => migrationName);
}

/** Checks the migrations again under the lock, because another build may have migrated meanwhile. */
function replaceRoutines(
  db: Database,
  all: Record<string, Migration>,
  routines: readonly RoutineFile[],
): Promise<string[]> {
  return db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(hashtext('workflow-service'), hashtext('routines'))`.execute(trx);
    refuseOtherBuilds(await executedMigrations(trx), all);
    const differing = await differingRoutines(trx, routines);
    await setLockTimeout(trx);
    await applyRoutines(trx, differing);
    return differing.map(nameOf);
  });
}

async function executedMigrations(db: Db): Promise<string[]> {
  const { rows: tables } = await sql<{ exists: boolean }>`
    SELECT to_regclass('kysely_migration') IS NOT NULL AS exists`.execute(db);
  if (tables[0]?.exists !== true) return [];
  const { rows } = await sql<{ name: string }>`SELECT name FROM kysely_migration ORDER BY name`.execute(db);
  return rows.map(({ name }) => name);
}

function refuseOtherBuilds(executed: readonly string[], all: Record<string, Migration>): void {
  const unknown = executed.find((name) => !Object.hasOwn(all, name));
  if (unknown === undefined) return;
  const [first = ''] = Object.keys(all);
  if (!executed.includes(first)) {
    throw new OtherBuildError(
      'the database was made by a build before version 0.3.0, which no later build takes over: give this build an empty database',
    );
  }
  throw new OtherBuildError(
    `a newer build has migrated the database (${unknown}): this build's API and worker can use it, but only a newer build may migrate it`,
  );
}

/**
 * Sets the limit inside the migration only. The wait for the migrator's own lock has no limit, because another process
 * may hold that lock for long.
 */
function withLockTimeout(migration: Migration): Migration {
  return {
    async up(db) {
      await setLockTimeout(db);
      await migration.up(db);
    },
  };
}

function nameOf({ name }: RoutineFile): string {
  return `routines/${name}`;
}
