import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database, Db } from '../../../db/core/client.js';
import { connect } from '../open-run.js';

interface Prepared {
  statement: string;
  generic: number;
  custom: number;
  /** The time as text, because a `Date` has no microseconds. */
  since: string;
}

/** The limit on prepared statements of a connection. */
const MOST = 200;

describe('prepared statements', function () {
  this.timeout(60_000);
  let db: Database;
  let other: Database;
  let made = 0;

  beforeEach(async () => {
    [db, other] = [await connect(1), await connect(1)];
  });
  afterEach(() => Promise.all([db.destroy(), other.destroy()]));

  const prepared = async (text: string): Promise<Prepared[]> => {
    const { rows } = await sql<Prepared>`
      SELECT statement, generic_plans AS generic, custom_plans AS custom, prepare_time::text AS since
      FROM pg_prepared_statements WHERE position(${sql.lit(text)} IN statement) > 0`.execute(db);
    return rows;
  };
  const settingOf = async (name: string): Promise<string> => {
    const { rows } = await sql<{ value: string }>`SELECT current_setting(${sql.lit(name)}) AS value`.execute(db);
    return rows[0]!.value;
  };
  const plus = async (executor: Db, tag: number, value: number): Promise<number> => {
    const { rows } = await sql<{ sum: number }>`SELECT ${value}::integer + ${sql.lit(tag)} AS sum`.execute(executor);
    return rows[0]!.sum;
  };

  it('are named by their text, and planned once, without their values', async () => {
    for (const value of [1, 2, 3]) assert.equal(await plus(db, 1_000_000, value), 1_000_000 + value);
    const [statement, ...others] = await prepared('+ 1000000');
    assert.deepEqual([statement!.generic, statement!.custom, others.length], [3, 0, 0]);
    await sql`SELECT 2000000`.execute(db);
    assert.deepEqual(await prepared('2000000'), [], 'a statement without values is not prepared');
  });

  it('of lists are planned for their values, and only they', async () => {
    const list = (executor: Db, divisor = 1): Promise<number[]> =>
      sql<{ n: number }>`
        SELECT n / ${divisor}::integer AS n FROM generate_series(1, 9) AS n ORDER BY n LIMIT ${2} OFFSET ${1}`
        .execute(executor)
        .then(({ rows }) => rows.map(({ n }) => n));
    assert.deepEqual(await list(db), [2, 3]);
    await assert.rejects(list(db, 0), { code: '22012' });
    await db.transaction().execute(async (transaction) => {
      assert.deepEqual(await list(transaction), [2, 3]);
    });
    await assert.rejects(
      db.transaction().execute((transaction) => list(transaction, 0)),
      { code: '22012' },
    );
    assert.equal(await settingOf('plan_cache_mode'), 'force_generic_plan');
    const [statement] = await prepared('LIMIT $');
    assert.deepEqual([statement!.generic, statement!.custom], [0, 4]);
  });

  it(`are at most ${MOST} of a connection: the server forgets those that were used longest ago`, async () => {
    await plus(db, 0, 1);
    const [hot] = await prepared('+ 0 ');
    for (let tag = 1; tag <= MOST + 50; tag += 1) {
      assert.equal(await plus(db, tag, 1), tag + 1);
      if (tag % 100 === 0) await plus(db, 0, 1);
    }
    assert.equal((await prepared('')).length, MOST);
    assert.deepEqual(await prepared('+ 1 '), []);
    assert.equal(await plus(db, 1, 1), 2, 'what was forgotten is prepared again');
    assert.equal((await prepared('+ 0 '))[0]!.since, hot!.since);
  });

  describe('whose columns a migration changes', () => {
    let table: string;

    const read = async (executor: Db): Promise<unknown[]> =>
      (await sql`SELECT * FROM ${sql.table(table)} WHERE id = ${1}`.execute(executor)).rows;
    const change = async (): Promise<void> => {
      await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN added integer`.execute(other);
    };

    beforeEach(async () => {
      table = `prepared_${process.pid}_${(made += 1)}`;
      await sql`CREATE TABLE ${sql.table(table)} (id integer)`.execute(other);
      await sql`INSERT INTO ${sql.table(table)} VALUES (1)`.execute(other);
    });
    afterEach(() => sql`DROP TABLE ${sql.table(table)}`.execute(other));

    it('are prepared anew', async () => {
      assert.deepEqual(await read(db), [{ id: 1 }]);
      await change();
      assert.deepEqual(await read(db), [{ id: 1, added: null }]);
      assert.equal((await prepared(table)).length, 1);
    });

    it('fail in a transaction, and the next transaction finds them prepared anew', async () => {
      const inTransaction = (): Promise<unknown[]> => db.transaction().execute(read);
      assert.deepEqual(await inTransaction(), [{ id: 1 }]);
      await change();
      await assert.rejects(inTransaction(), { code: '0A000' });
      assert.deepEqual(await inTransaction(), [{ id: 1, added: null }]);
    });
  });

  it('that the server has lost are prepared anew', async () => {
    assert.equal(await plus(db, 3_000_000, 1), 3_000_001);
    await sql`DEALLOCATE ALL`.execute(db);
    assert.equal(await plus(db, 3_000_000, 1), 3_000_001);
  });

  it('belong to connections with time limits, and without JIT', async () => {
    const names = ['jit', 'statement_timeout', 'idle_in_transaction_session_timeout'];
    assert.deepEqual(await Promise.all(names.map(settingOf)), ['off', '1min', '10s']);
  });
});
