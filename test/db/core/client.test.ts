import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { createDatabase, isDatabaseTimeout } from '../../../db/core/client.js';
import { eventually } from '../../../harness/timing/eventually.js';
import { queryDatabase } from '../../support/inspect.js';
import { sharedStack } from '../../support/shared-stack.js';
import type { TestStack } from '../../../harness/stack/stack.js';

describe('database connections', function () {
  this.timeout(120_000);
  let stack: TestStack;

  before(async () => {
    stack = await sharedStack();
  });

  it('a connection that the server ends while it is taken and idle fails its next query, and not the process', async () => {
    const db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    try {
      await db.connection().execute(async (taken) => {
        const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(taken);
        const pid = rows[0]!.pid;
        await queryDatabase(stack, 'SELECT pg_terminate_backend($1)', [pid]);
        await eventually(async () => {
          const left = await queryDatabase(stack, 'SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid]);
          return left.length === 0;
        });
        await assert.rejects(sql`SELECT 1`.execute(taken));
      });
      // The pool may return the connection once more before it notices that it has ended.
      await eventually(() =>
        sql`SELECT 1`.execute(db).then(
          ({ rows }) => rows.length === 1,
          () => false,
        ),
      );
    } finally {
      await db.destroy();
    }
  });

  it('a statement that takes too long is told apart from a wrong one', async () => {
    const db = createDatabase({
      url: stack.stack.database_url,
      poolMax: 1,
      applicationName: 'test',
      onError: () => undefined,
    });
    try {
      // On a busy machine, the short time limit could end this statement, too.
      await assert.rejects(sql`SELECT 1 / 0`.execute(db), (error) => !isDatabaseTimeout(error));
      await sql`SET statement_timeout = 50`.execute(db);
      await assert.rejects(sql`SELECT pg_sleep(60)`.execute(db), isDatabaseTimeout);
    } finally {
      await db.destroy();
    }
  });
});
