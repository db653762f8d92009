import assert from 'node:assert/strict';
import path from 'node:path';
import { sql, type Kysely, type Migration } from 'kysely';
import { createDatabase, type Database } from '../../../db/core/client.js';
import { migrateToLatest, pendingMigrations } from '../../../db/schema/migrate.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import { execute } from '../../support/shell.js';
import { OWN_BUILD } from '../../../harness/stack/supervisor.js';
import { withEmptyDatabase } from '../migrated-database.js';

const DATABASE = 'migrations';

describe('migrations', function () {
  this.timeout(120_000);
  let migrator: Database;
  let service: Database;

  before(async () => {
    const stack = await sharedStack();
    await queryDatabase(stack, `CREATE DATABASE ${DATABASE}`);
    const url = new URL(stack.stack.database_url);
    url.pathname = `/${DATABASE}`;
    const options = { url: url.href, poolMax: 1, applicationName: 'test', onError: () => undefined };
    [migrator, service] = [createDatabase(options), createDatabase(options)];
    await sql`CREATE TABLE first (id integer)`.execute(migrator);
    await sql`CREATE TABLE last (id integer)`.execute(migrator);
  });

  after(async () => {
    await Promise.all([migrator.destroy(), service.destroy()]);
    await queryDatabase(await sharedStack(), `DROP DATABASE ${DATABASE}`);
  });

  /**
   * Calls `use` while the migration has locked `first` and waits for `last`, in which this transaction has inserted a
   * row.
   */
  async function withOneBegun<T>(all: Record<string, Migration>, patienceMs: number, use: UseOfBegun<T>): Promise<T> {
    return service.transaction().execute(async (trx) => {
      await sql`INSERT INTO last VALUES (1)`.execute(trx);
      const migrated = migrateToLatest(migrator, { all, routines: [], patienceMs });
      migrated.catch(() => undefined);
      await eventually(async () => (await waitsFor('last', trx)) > 0, { intervalMs: 5 });
      return use(migrated, trx);
    });
  }

  it('a migration in a deadlock with a transaction gives way, and is retried', async () => {
    const begun = await withOneBegun({ ...empty('0001'), ...both('0002') }, 30_000, async (migrated, trx) => {
      await sql`INSERT INTO first VALUES (1)`.execute(trx);
      return { migrated };
    });
    assert.deepEqual(await begun.migrated, ['0001', '0002']);
    const { rows } = await sql`SELECT first.added_0002, last.added_0002 FROM first, last`.execute(service);
    assert.equal(rows.length, 1);
  });

  it('one that gets no lock for too long fails without a trace; those before it stay', async () => {
    const all = { ...empty('0001'), ...both('0002'), ...empty('0003'), ...both('0004') };
    await withOneBegun(all, 500, async (migrated) => {
      await assert.rejects(migrated, { code: '55P03' });
    });
    const { rows } = await sql`SELECT name FROM kysely_migration ORDER BY name`.execute(service);
    assert.deepEqual(rows, [{ name: '0001' }, { name: '0002' }, { name: '0003' }]);
    assert.deepEqual(await migrateToLatest(migrator, { all, routines: [] }), ['0004']);
  });

  it('what is wrong with a migration is thrown at once', async () => {
    const all = { ...empty('0001'), ...empty('0002'), ...empty('0003'), ...empty('0004') };
    const up = (): Promise<void> => Promise.reject(new Error('no such column'));
    await assert.rejects(
      migrateToLatest(migrator, { all: { ...all, '0005': { up } }, routines: [] }),
      /no such column/,
    );
  });
});

describe('the migrations that ship', function () {
  this.timeout(120_000);

  const connect = (url: string): Database =>
    createDatabase({ url, poolMax: 2, applicationName: 'test', onError: () => undefined });

  it('apply to an empty database once, whoever else applies them at the same moment', async () => {
    await withEmptyDatabase(async (url) => {
      const [one, other] = [connect(url), connect(url)];
      const missing = await pendingMigrations(one);
      assert.ok(missing.length > 0);
      const applied = await Promise.all([migrateToLatest(one), migrateToLatest(other)]);
      assert.deepEqual(applied.flat().toSorted(), missing);
      assert.deepEqual([await pendingMigrations(one), await migrateToLatest(one)], [[], []]);
      await Promise.all([one.destroy(), other.destroy()]);
    });
  });

  it('do not apply to a database of a build before 0.3.0, and say so in one sentence', async () => {
    await withEmptyDatabase(async (url, stack) => {
      await queryDatabase(stack, 'CREATE TABLE kysely_migration (name text, timestamp text)');
      await queryDatabase(stack, "INSERT INTO kysely_migration VALUES ('0001-accounts-and-projects', '')");
      const answer = await execute(process.execPath, [path.join(OWN_BUILD, 'cli/migrate.js')], {
        cwd: OWN_BUILD,
        env: { PATH: process.env['PATH'], DATABASE_URL: url },
      });
      const sentence =
        'DATABASE_URL: the database was made by a build before version 0.3.0, which no later build takes over: give this build an empty database.\n';
      assert.deepEqual(answer, { code: 1, stdout: '', stderr: sentence });
      const db = connect(url);
      assert.ok((await pendingMigrations(db)).includes('0001-baseline'));
      await db.destroy();
    });
  });
});

type UseOfBegun<T> = (migrated: Promise<string[]>, trx: Database) => Promise<T>;

const empty = (name: string): Record<string, Migration> => ({ [name]: { up: () => Promise.resolve() } });

/** A migration that changes `first`, then `last`. */
function both(name: string): Record<string, Migration> {
  const column = sql.ref(`added_${name}`);
  const up = async (db: Kysely<unknown>): Promise<void> => {
    await sql`ALTER TABLE first ADD ${column} text`.execute(db);
    await sql`ALTER TABLE last ADD ${column} text`.execute(db);
  };
  return { [name]: { up } };
}

async function waitsFor(table: string, db: Database): Promise<number> {
  const { rows } = await sql`SELECT FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`.execute(db);
  return rows.length;
}
