import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { lockOwner, tryLock } from '../../../cli/embedded/lock-file.js';
import { identifyProcess } from '../../../cli/embedded/process-identity.js';

describe('a lock file', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
    file = path.join(folder, 'lock');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is held by one at a time, and names its owner', async () => {
    const first = await tryLock(file);
    assert.ok(first.acquired);
    const second = await tryLock(file);
    assert.ok(!second.acquired && second.owner.pid === process.pid);
    first.release();
    assert.equal(lockOwner(file), undefined);
    assert.ok((await tryLock(file)).acquired);
  });

  it('does not count when its owner is dead, even if another process has its pid', async () => {
    writeFileSync(file, JSON.stringify({ ...identifyProcess(process.pid), startedAt: 'another boot' }));
    assert.equal(lockOwner(file), undefined);
    assert.ok((await tryLock(file)).acquired);
    writeFileSync(file, 'half a li');
    assert.ok((await tryLock(file)).acquired);
  });
});
