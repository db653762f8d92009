import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { sql } from 'kysely';
import type { FileStore } from '../../files/file-store.js';
import { createFiles } from '../../files/files.js';
import { createFileSealer } from '../../files/sealed-copy.js';
import { withMigratedDatabase } from '../db/migrated-database.js';

describe('a failed write that the store may still complete', function () {
  this.timeout(120_000);

  it('has its bytes removed by the sweep, but not before the store has given the write up', async () => {
    await withMigratedDatabase(async (db) => {
      const user = await db.insertInto('users').values({ name: 'one' }).returning('id').executeTakeFirstOrThrow();
      const project = { name: 'of a test', created_by: user.id };
      const { id: projectId } = await db
        .insertInto('projects')
        .values(project)
        .returning('id')
        .executeTakeFirstOrThrow();
      const removed: string[] = [];
      const written: string[] = [];
      const store: FileStore = {
        bufferBytes: 0,
        lateMs: 600_000,
        async write(name) {
          written.push(name);
          throw new Error('the caller hung up');
        },
        read: () => Promise.reject(new Error('not read here')),
        async remove(name) {
          removed.push(name);
        },
        markedAs: (mark) => Promise.resolve(mark),
      };
      const files = createFiles({ db, store, sealer: createFileSealer([randomBytes(32)]), maxBytes: 100 });
      const file = { projectId, name: 'a.txt', type: 'text/plain' };
      await assert.rejects(files.save(file, Readable.from([Buffer.from('bytes')]), new AbortController().signal));
      await files.removeAbandoned(10);
      assert.deepEqual([written.length, removed], [1, []]);
      await sql`UPDATE file_copies SET touched_at = touched_at - interval '11 minutes'`.execute(db);
      await files.removeAbandoned(10);
      assert.deepEqual(removed, written);
      assert.deepEqual(await db.selectFrom('file_copies').select('id').execute(), []);
    });
  });
});
