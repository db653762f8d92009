import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { pino } from 'pino';
import { sweepFiles } from '../../../api/background/sweep-files.js';
import type { Database } from '../../../db/core/client.js';
import { openFiles } from '../../../files/open-files.js';
import { makeDataDir } from '../../../harness/stack/supervisor.js';
import { withMigratedDatabase } from '../migrated-database.js';

describe('rounds of the sweep of files', () => {
  it('delete 200 files each, and say when more may be left', async () => {
    await withMigratedDatabase(async (db) => {
      await insertExpiredFiles(db, 450);
      const files = openFiles(db, [Buffer.alloc(32)], { fileStore: { folder: makeDataDir() }, maxFileBytes: 1000 });
      const deps = { db, files, config: { resultRetentionDays: 30 }, logger: pino({ level: 'silent' }) };
      const rounds: [hasMore: boolean, left: number][] = [];
      do rounds.push([await sweepFiles(deps), await count(db, 'files')]);
      while (rounds.at(-1)![0]);
      assert.deepEqual(rounds, [
        [true, 250],
        [true, 50],
        [false, 0],
      ]);
      assert.equal(await count(db, 'file_copies'), 0, 'the copies go with their files');
    });
  });
});

async function insertExpiredFiles(db: Database, number: number): Promise<void> {
  await sql`
    WITH owner AS (
      INSERT INTO users (name) VALUES ('somebody') RETURNING id
    ), project AS (
      INSERT INTO projects (name, created_by) SELECT 'of a test', id FROM owner RETURNING id
    ), copies AS (
      INSERT INTO file_copies (id, project_id, name, status, bytes, sha256, seal)
      SELECT gen_random_uuid(), project.id, md5(nr::text), 'stored', 0, sha256(nr::text::bytea), sha256('seal')
      FROM project, generate_series(1, ${number}::integer) AS nr RETURNING id, project_id, sha256
    )
    INSERT INTO files (id, project_id, copy_id, name, type, size, sha256, created_at)
    SELECT gen_random_uuid(), project_id, id, 'old', 'text/plain', 0, sha256, now() - interval '25 hours' FROM copies`.execute(
    db,
  );
}

async function count(db: Database, table: 'files' | 'file_copies'): Promise<number> {
  const { rows } = await sql<{ count: string }>`SELECT count(*) AS count FROM ${sql.table(table)}`.execute(db);
  return Number(rows[0]!.count);
}
