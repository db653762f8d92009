// Verification of the hash chains of the audit log, on a separate database, where no service extends the chains.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { insertAuditEntry, SYSTEM } from '../../../db/audit/audit-entry.js';
import { chainRecords } from '../../../db/audit/chain-repository.js';
import { foldRefusals, insertRefusals, type Refusal } from '../../../db/audit/refusals-repository.js';
import { verifyRecords, type Verification } from '../../../db/audit/verify-repository.js';
import { createDatabase, type Database, type Db } from '../../../db/core/client.js';
import { migrateToLatest } from '../../../db/schema/migrate.js';
import { expireAuditRecords } from '../../../db/retention/retention-repository.js';
import { createGate } from '../../../harness/timing/gate.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';

describe('the chains of the audit log', function () {
  this.timeout(120_000);
  let stack: TestStack;
  let name: string;
  let db: Database;

  before(async () => {
    stack = await sharedStack();
    name = `audit_${randomUUID().replaceAll('-', '')}`;
    await queryDatabase(stack, `CREATE DATABASE ${name}`);
    const url = new URL(stack.stack.database_url);
    url.pathname = `/${name}`;
    db = createDatabase({ url: url.href, poolMax: 4, applicationName: 'test', onError: () => undefined });
    await migrateToLatest(db);
  });
  after(async () => {
    await db.destroy();
    await queryDatabase(stack, `DROP DATABASE ${name} WITH (FORCE)`);
  });
  beforeEach(() => tamper(sql`TRUNCATE audit_records, audit_chains, audit_refusals RESTART IDENTITY`));

  const add = (projectId: number | null, on: Db = db): Promise<void> =>
    insertAuditEntry(on, {
      action: 'project.changed',
      doer: SYSTEM,
      projectId,
      changes: { name: ['a', 'ü\u0001"\\'] },
    });
  const chain = (): Promise<number> => db.transaction().execute((trx) => chainRecords(trx, 1_000));
  const verify = (projectId?: number): Promise<Verification> =>
    db.transaction().execute((trx) => verifyRecords(trx, projectId));
  /** Changes records as only the owner of the tables can. */
  async function tamper(statement: ReturnType<typeof sql>): Promise<void> {
    await sql`ALTER TABLE audit_records DISABLE TRIGGER audit_records_guard`.execute(db);
    await statement.execute(db);
    await sql`ALTER TABLE audit_records ENABLE TRIGGER audit_records_guard`.execute(db);
  }

  async function fill(): Promise<void> {
    for (const projectId of [1, 2, null, 1, 1, null, 2, 1, 1]) await add(projectId);
    assert.equal(await chain(), 9);
  }

  it('are intact as they were written, in all and of each project', async () => {
    await fill();
    assert.deepEqual(await verify(), { entries: 9, intact: true, first_broken: null });
    assert.deepEqual(await verify(1), { entries: 5, intact: true, first_broken: null });
    assert.deepEqual(await verify(7), { entries: 0, intact: true, first_broken: null });
  });

  it('have each record once, also where a transaction that began first commits last', async () => {
    const [inserted, finish] = [createGate(), createGate()];
    const late = db.transaction().execute(async (trx) => {
      await add(1, trx);
      inserted.open();
      await finish.opened;
    });
    await Promise.race([inserted.opened, late]);
    try {
      await add(1);
      assert.equal(await chain(), 1);
    } finally {
      finish.open();
      await late;
    }
    assert.equal(await chain(), 1);
    const { rows } = await sql<{ id: number; position: number }>`
      SELECT id, position FROM audit_records ORDER BY position`.execute(db);
    assert.deepEqual(rows, [
      { id: 2, position: 1 },
      { id: 1, position: 2 },
    ]);
    assert.deepEqual(await verify(), { entries: 2, intact: true, first_broken: null });
  });

  it('of processes that chain at the same time are one', async () => {
    await Promise.all(Array.from({ length: 40 }, (_, index) => add(index % 3)));
    // The API's lock admits one process at a time; the row locks would suffice without it, too.
    for (let left = 40; left > 0; left -= await chain()) await add(null);
    assert.equal((await verify()).intact, true);
  });

  for (const [title, statement] of [
    ['a field', sql`UPDATE audit_records SET actor_name = 'Eve' WHERE id = 5`],
    ['what was changed', sql`UPDATE audit_records SET changes = '{}' WHERE id = 5`],
    ['the time', sql`UPDATE audit_records SET at = at + interval '1 microsecond' WHERE id = 5`],
    ['the hash', sql`UPDATE audit_records SET hash = sha256('x') WHERE id = 5`],
    ['the project', sql`UPDATE audit_records SET project_id = 3 WHERE id = 5`],
  ] as const) {
    it(`are broken at the first record of which ${title} was changed`, async () => {
      await fill();
      await tamper(statement);
      const { intact, first_broken: broken } = await verify();
      // A changed record breaks its chain. A record that changed its project does not belong in the other chain.
      assert.deepEqual([intact, broken], [false, 5]);
    });
  }

  it('are broken behind a record that was deleted', async () => {
    await fill();
    await tamper(sql`DELETE FROM audit_records WHERE id = 4`);
    assert.deepEqual(await verify(1), { entries: 4, intact: false, first_broken: 5 });
    assert.equal((await verify(2)).intact, true);
  });

  it('are broken where the first or the last records were cut off, or all of them', async () => {
    await fill();
    await tamper(sql`DELETE FROM audit_records WHERE id = 1`);
    assert.deepEqual(await verify(1), { entries: 4, intact: false, first_broken: 4 });
    await tamper(sql`DELETE FROM audit_records WHERE id IN (7)`);
    assert.deepEqual(await verify(2), { entries: 1, intact: false, first_broken: 7 });
    await tamper(sql`DELETE FROM audit_records WHERE project_id IS NULL`);
    assert.deepEqual(await verify(), { entries: 5, intact: false, first_broken: 4 });
  });

  it('are broken where two records have changed places, and where their head was deleted or set back', async () => {
    await fill();
    await tamper(sql`
      UPDATE audit_records SET position = position + 100 WHERE id IN (4, 5);
    `);
    await tamper(sql`UPDATE audit_records SET position = CASE id WHEN 4 THEN 3 ELSE 2 END WHERE id IN (4, 5)`);
    assert.deepEqual((await verify(1)).first_broken, 5);
    await tamper(sql`DELETE FROM audit_chains WHERE project_id = 2`);
    assert.deepEqual(await verify(2), { entries: 2, intact: false, first_broken: 2 });
  });

  it('stay intact when retention deletes what is more than 400 days old, and nothing younger', async () => {
    const old = (days: number, projectId: number) =>
      sql`
      INSERT INTO audit_records (at, project_id, action, outcome, via)
      VALUES (now() - make_interval(days => ${days}), ${projectId}, 'project.changed', 'success', 'system')`.execute(
        db,
      );
    for (const days of [500, 450, 401, 399, 1]) await old(days, 1);
    for (const days of [399, 402]) await old(days, 2);
    await chain();
    const before = await verify();
    const deleted = await db.transaction().execute((trx) => expireAuditRecords(trx, 2));
    assert.deepEqual([deleted.expired, deleted.hasMore], [{ audit_records: 2 }, true]);
    assert.deepEqual(await db.transaction().execute((trx) => expireAuditRecords(trx, 500)), {
      expired: { audit_records: 1 },
      hasMore: false,
    });
    // In the second chain, the expired record follows one that has not expired, so it stays.
    assert.deepEqual([before.entries, await verify()], [7, { entries: 4, intact: true, first_broken: null }]);
    await add(1);
    await chain();
    assert.deepEqual(await verify(1), { entries: 3, intact: true, first_broken: null });
    await assert.rejects(sql`DELETE FROM audit_records WHERE project_id = 1`.execute(db), /never changed/);
  });

  it('need of a role only that it may insert and chain: it changes and deletes nothing', async () => {
    const role = `service_${randomUUID().replaceAll('-', '')}`;
    await sql.raw(`CREATE ROLE ${role}`).execute(db);
    try {
      for (const grant of [
        `GRANT SELECT, INSERT ON audit_records TO ${role}`,
        `GRANT UPDATE (position, hash) ON audit_records TO ${role}`,
        `GRANT SELECT, INSERT, UPDATE ON audit_chains TO ${role}`,
        `GRANT SELECT ON users TO ${role}`,
      ]) {
        await sql.raw(grant).execute(db);
      }
      const as = <T>(work: (trx: Db) => Promise<T>): Promise<T> =>
        db.transaction().execute(async (trx) => {
          await sql.raw(`SET LOCAL ROLE ${role}`).execute(trx);
          return work(trx);
        });
      await sql`INSERT INTO audit_records (at, action, outcome, via)
        VALUES (now() - interval '401 days', 'user.created', 'success', 'system')`.execute(db);
      await as((trx) => add(1, trx));
      assert.equal(await as((trx) => chainRecords(trx, 10)), 2);
      assert.deepEqual((await as((trx) => expireAuditRecords(trx, 10))).expired, { audit_records: 1 });
      for (const text of [
        "UPDATE audit_records SET action = 'x'",
        'UPDATE audit_records SET hash = NULL, position = NULL',
        'DELETE FROM audit_records',
        'TRUNCATE audit_records',
      ]) {
        await assert.rejects(
          as((trx) => sql.raw(text).execute(trx)),
          /permission denied|never changed/,
          text,
        );
      }
      assert.deepEqual(await verify(), { entries: 1, intact: true, first_broken: null });
    } finally {
      await sql.raw(`DROP OWNED BY ${role}`).execute(db);
      await sql.raw(`DROP ROLE ${role}`).execute(db);
    }
  });

  it('have 60 refusals of one network and target a minute, and one record that counts the others', async () => {
    const refusal = (id: string, network = '203.0.113.7'): Refusal => ({
      action: 'workflow.deleted',
      doer: { via: 'key', address: network },
      network,
      projectId: 1,
      target: { type: 'workflow', id, name: 'x' },
    });
    const insert = (id: string, count: number, network?: string) =>
      insertRefusals(
        db,
        Array.from({ length: count }, () => refusal(id, network)),
      );
    await insert('1', 50);
    await Promise.all([insert('1', 40), insert('1', 35), insert('2', 60), insert('1', 5, '203.0.113.8')]);
    const counts = async () =>
      (
        await sql<{ id: string; address: string; records: number; refusals: number }>`
          SELECT target_id AS id, address, count(*) AS records, sum(count) AS refusals FROM audit_records
          GROUP BY 1, 2 ORDER BY 1, 2`.execute(db)
      ).rows;
    const [one, two] = ['203.0.113.7', '203.0.113.8'];
    assert.deepEqual(await counts(), [
      { id: '1', address: one, records: 60, refusals: 60 },
      { id: '1', address: two, records: 5, refusals: 5 },
      { id: '2', address: one, records: 60, refusals: 60 },
    ]);
    await foldRefusals(db);
    assert.equal((await counts())[0]!.records, 60);
    await sql`UPDATE audit_refusals SET minute = minute - interval '2 minutes'`.execute(db);
    await foldRefusals(db);
    await foldRefusals(db);
    assert.deepEqual((await counts())[0], { id: '1', address: one, records: 61, refusals: 125 });
    const { rows } = await sql`SELECT FROM audit_refusals`.execute(db);
    assert.equal(rows.length, 0);
    await chain();
    assert.equal((await verify()).intact, true);
  });
});
