import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../../db/core/client.js';
import { migrateToLatest, OtherBuildError, pendingMigrations } from '../../../db/schema/migrate.js';
import { shippedRoutines, type RoutineFile } from '../../../db/schema/routines.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { withMigratedDatabase } from '../migrated-database.js';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const MIGRATIONS = readdirSync(path.join(ROOT, 'db/migrations')).flatMap(
  (file) => /^(\d.*)\.ts$/.exec(file)?.[1] ?? [],
);

/**
 * The last migration, and the hash of all routines with it. Builds are ordered by their migrations: a build with other
 * routines has a further migration, even an empty one, or an earlier build would restore its own routines.
 */
const LAST = {
  migration: '0007-kept-baselines',
  routines: 'd0be5adc3c98540399a1984e0bdf0b5631d4d98c76c03640a0445d63b86c1beb',
};

/** A function that returns `value`, and a trigger of `bookmarks`. */
const noting = (name: string, value: number): RoutineFile => ({
  name: `${name}.sql`,
  text: `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
    CREATE OR REPLACE FUNCTION value_of_${name}() RETURNS integer LANGUAGE sql AS $$ SELECT ${value} $$;
    CREATE OR REPLACE TRIGGER ${name} AFTER INSERT ON bookmarks FOR EACH ROW EXECUTE FUNCTION ${name}();`,
});

describe('routines', function () {
  this.timeout(60_000);

  async function valueOf(db: Database, name: string): Promise<unknown> {
    const { rows } = await sql<{ value: number }>`SELECT ${sql.raw(`value_of_${name}()`)} AS value`.execute(db);
    return rows[0]?.value;
  }

  it('are replaced where their file has changed, and nowhere else', async () => {
    await withMigratedDatabase(async (db) => {
      const [first, other] = [noting('first', 1), noting('other', 2)];
      assert.deepEqual(await migrateToLatest(db, { routines: [first, other] }), [
        'routines/first.sql',
        'routines/other.sql',
      ]);
      await sql`DROP FUNCTION value_of_other()`.execute(db);
      assert.deepEqual(await migrateToLatest(db, { routines: [noting('first', 3), other] }), ['routines/first.sql']);
      assert.equal(await valueOf(db, 'first'), 3);
      await assert.rejects(valueOf(db, 'other'), { code: '42883' });
      assert.deepEqual(await migrateToLatest(db, { routines: [noting('first', 3), other] }), []);
    });
  });

  it('change together or not at all, by whichever process comes first', async () => {
    await withMigratedDatabase(async (db) => {
      const broken = { name: 'second.sql', text: 'CREATE TABLE first (id integer); SELECT no_such_function();' };
      await assert.rejects(migrateToLatest(db, { routines: [noting('first', 1), broken] }), { code: '42883' });
      await assert.rejects(valueOf(db, 'first'), { code: '42883' });
      const routines = [noting('first', 1), noting('second', 2)];
      const applied = await Promise.all(Array.from({ length: 3 }, () => migrateToLatest(db, { routines })));
      assert.deepEqual(applied.flat().toSorted(), ['routines/first.sql', 'routines/second.sql']);
      assert.equal(await valueOf(db, 'second'), 2);
    });
  });

  it('give way to a transaction that holds their table and waits for them, and are retried', async () => {
    await withMigratedDatabase(async (db) => {
      const routines = [noting('first', 1), { name: 'last.sql', text: 'LOCK TABLE rate_limits IN EXCLUSIVE MODE' }];
      const { migrated } = await db.transaction().execute(async (trx) => {
        await sql`LOCK TABLE rate_limits IN ROW EXCLUSIVE MODE`.execute(trx);
        const begun = migrateToLatest(db, { routines, patienceMs: 30_000 });
        begun.catch(() => undefined);
        const waiting = sql`SELECT FROM pg_locks WHERE relation = 'rate_limits'::regclass AND NOT granted`;
        await eventually(async () => (await waiting.execute(trx)).rows.length > 0, { intervalMs: 5 });
        // The migration already locks `bookmarks` for its trigger, so it and this transaction wait for each other.
        await sql`LOCK TABLE bookmarks IN ROW EXCLUSIVE MODE`.execute(trx);
        return { migrated: begun };
      });
      assert.deepEqual(await migrated, ['routines/first.sql', 'routines/last.sql']);
    });
  });

  it('that get no lock for too long are left as they were', async () => {
    await withMigratedDatabase(async (db) => {
      await migrateToLatest(db, { routines: [noting('first', 1)] });
      await db.transaction().execute(async (trx) => {
        await sql`LOCK TABLE bookmarks IN ROW EXCLUSIVE MODE`.execute(trx);
        const routines = [noting('first', 2)];
        await assert.rejects(migrateToLatest(db, { routines, patienceMs: 500 }), { code: '55P03' });
      });
      assert.equal(await valueOf(db, 'first'), 1);
    });
  });

  it('are missing until a build has brought its own: after its migrations, or where another build of these migrations was', async () => {
    await withMigratedDatabase(async (db, stack) => {
      assert.deepEqual(await pendingMigrations(db), []);
      await queryDatabase(stack, "UPDATE routine_files SET hash = 'of another' WHERE name = 'audit.sql'");
      await queryDatabase(stack, "DELETE FROM routine_files WHERE name = 'conversation-queue.sql'");
      assert.deepEqual(await pendingMigrations(db), ['routines/audit.sql', 'routines/conversation-queue.sql']);
      assert.deepEqual(await migrateToLatest(db), ['routines/audit.sql', 'routines/conversation-queue.sql']);
    });
  });

  it('of a newer build stay: an earlier one works with them, and does not put its own back', async () => {
    await withMigratedDatabase(async (db, stack) => {
      await queryDatabase(stack, "INSERT INTO kysely_migration VALUES ('9999-next', '2100-01-01T00:00:00.000Z')");
      await queryDatabase(stack, "UPDATE routine_files SET hash = 'of the next build'");
      assert.deepEqual(await pendingMigrations(db), []);
      await assert.rejects(migrateToLatest(db), (error) => {
        assert.ok(error instanceof OtherBuildError);
        assert.match(error.message, /^a newer build has migrated the database \(9999-next\)/);
        return true;
      });
      const hashes = await queryDatabase(stack, 'SELECT DISTINCT hash FROM routine_files');
      assert.deepEqual(hashes, [{ hash: 'of the next build' }]);
    });
  });
});

describe('the routines that ship', function () {
  this.timeout(60_000);

  it('change with a migration', () => {
    const hash = createHash('sha256');
    for (const { name, text } of shippedRoutines()) hash.update(`${name}\0${text}\0`);
    assert.deepEqual({ migration: MIGRATIONS.at(-1), routines: hash.digest('hex') }, LAST, 'see LAST in this file');
  });

  it('are right as they stand: the database checks their bodies', async () => {
    await withMigratedDatabase(async (_db, stack) => {
      for (const { text } of shippedRoutines()) await queryDatabase(stack, text);
    });
  });

  it('are all functions and triggers of the database, and ARCHITECTURE.md says who calls each', async () => {
    const routines = await withMigratedDatabase((_db, stack) =>
      queryDatabase<{ name: string }>(
        stack,
        `SELECT proname AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
         UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal`,
      ),
    );
    assert.ok(routines.length > 100, `${routines.length} routines`);
    const [, section = ''] = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8').split(
      '\n### Routines of the database\n',
    );
    const [table = ''] = section.split('\n#');
    const named = [...table.matchAll(/`([\w*]+)`/g)].map(
      ([, name]) => new RegExp(`^${name!.replaceAll('*', '\\w+')}$`),
    );
    const text = shippedRoutines().map((file) => file.text);
    const isIn = (name: string): boolean => text.some((one) => new RegExp(`(?:FUNCTION|TRIGGER) ${name}\\b`).test(one));
    assert.deepEqual(
      routines.filter(({ name }) => !isIn(name) || !named.some((one) => one.test(name))),
      [],
    );
  });
});
