import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../../db/core/client.js';
import { insertCopy, replaceCopy, settleCopy } from '../../../db/files/copies-repository.js';
import { insertFile } from '../../../db/files/files-repository.js';
import { connect, openRun, untilWaiting } from '../open-run.js';

describe('a copy that is sealed anew beside an upload of equal bytes', function () {
  this.timeout(120_000);
  let db: Database;

  before(async () => {
    db = await connect();
  });
  after(() => db.destroy());

  it('takes the uploaded file along, whose bytes would be lost with the old copy', async () => {
    const { projectId, userId } = await openRun(db, ['http']);
    const [sha256, size] = [randomBytes(32), 5];
    const addCopy = async (): Promise<string> => {
      const id = randomUUID();
      await insertCopy(db, { id, projectId, name: randomBytes(16).toString('hex'), seal: randomBytes(16) });
      return id;
    };
    const file = { projectId, runId: null, userId, name: 'a.txt', type: 'text/plain', size, sha256 };
    const [old, resealed, uploaded] = [await addCopy(), await addCopy(), await addCopy()];
    const settle = { projectId, bytes: size, sha256 };
    await db.transaction().execute(async (trx) => {
      assert.equal(await settleCopy(trx, { ...settle, id: old }), old);
      await insertFile(trx, { ...file, id: randomUUID(), copyId: old });
    });
    const id = randomUUID();
    const beside = await db.transaction().execute(async (trx) => {
      assert.equal(await settleCopy(trx, { ...settle, id: uploaded }), old);
      const replacing = db
        .transaction()
        .execute((other) => replaceCopy(other, { projectId, copyId: old }, { id: resealed, size, sha256 }));
      await Promise.race([replacing, untilWaiting('pg_advisory_xact_lock')]);
      await insertFile(trx, { ...file, id, copyId: old });
      return { replacing };
    });
    assert.equal((await beside.replacing).copyId, resealed);
    const { copyId, status } = await db
      .selectFrom('files')
      .innerJoin('file_copies as copy', 'copy.id', 'files.copy_id')
      .select(['copy.id as copyId', 'copy.status'])
      .where('files.id', '=', id)
      .executeTakeFirstOrThrow();
    assert.deepEqual([copyId, status], [resealed, 'stored']);
  });
});
