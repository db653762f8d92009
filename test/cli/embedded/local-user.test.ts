import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureLocalUser, type LocalUser } from '../../../cli/embedded/local-user.js';
import { readOrCreateSecrets } from '../../../cli/embedded/secrets-file.js';
import { readSamplesFile, writeSamplesFile } from '../../../cli/samples/samples-file.js';
import { findKeyHolder } from '../../../db/access/keys-repository.js';
import type { Database } from '../../../db/core/client.js';
import { withMigratedDatabase } from '../../db/migrated-database.js';

describe('the local user of a data directory', function () {
  this.timeout(120_000);
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'local-user-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const start = (db: Database): Promise<LocalUser> => ensureLocalUser(db, dataDir, readOrCreateSecrets(dataDir));

  it('stays the same from start to start, with its key', async () => {
    await withMigratedDatabase(async (db) => {
      const first = await start(db);
      assert.deepEqual([await start(db), await start(db)], [first, first]);
    });
  });

  it('gets a new key if its key was deleted, and keeps its samples', async () => {
    await withMigratedDatabase(async (db) => {
      const first = await start(db);
      writeSamplesFile(dataDir, { settings: [{ base_url: 'http://127.0.0.1:1', model: 'm' }], project_id: 7 });
      await db.deleteFrom('api_keys').execute();
      const second = await start(db);
      assert.equal(second.userId, first.userId);
      assert.notEqual(second.apiKey, first.apiKey);
      assert.deepEqual(await findKeyHolder(db, second.apiKey), { userId: first.userId });
      assert.equal(readSamplesFile(dataDir)?.project_id, 7);
      assert.deepEqual(await start(db), second);
    });
  });

  it('of a directory from before these were stored stays the same if its key is deleted later', async () => {
    await withMigratedDatabase(async (db) => {
      const first = await start(db);
      const { local_user: _unused, ...before } = readOrCreateSecrets(dataDir);
      assert.deepEqual(await ensureLocalUser(db, dataDir, before), first);
      await db.deleteFrom('api_keys').execute();
      assert.equal((await start(db)).userId, first.userId);
    });
  });

  it('is another one in another database, even if its id is the same', async () => {
    await withMigratedDatabase(async (db) => {
      const first = await start(db);
      writeSamplesFile(dataDir, { settings: [{ base_url: 'http://127.0.0.1:1', model: 'm' }], project_id: 7 });
      await withMigratedDatabase(async (other) => {
        const there = await start(other);
        assert.equal(there.userId, first.userId);
        assert.notEqual(there.apiKey, first.apiKey);
        assert.deepEqual(await findKeyHolder(other, there.apiKey), { userId: there.userId });
        assert.equal(readSamplesFile(dataDir)?.project_id, undefined);
      });
    });
  });
});
