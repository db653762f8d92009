import assert from 'node:assert/strict';
import fs, { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGate } from '../../harness/timing/gate.js';

type WithLock = (file: string, action: () => Promise<void> | void) => Promise<void>;

const { withLock } = (await import(new URL('../../scripts/lock.mjs', import.meta.url).href)) as { withLock: WithLock };

/** No process has this pid. */
const GONE = '2147483647';

describe('the lock of builds', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'lock-'));
    file = path.join(folder, 'lock');
  });
  afterEach(() => {
    restoreReads();
    rmSync(folder, { recursive: true, force: true });
  });

  const read = fs.readFileSync;
  function restoreReads(): void {
    fs.readFileSync = read;
    syncBuiltinESMExports();
  }

  /** Calls `action` after the next time that somebody has read the lock. */
  function afterNextRead(action: () => void): void {
    fs.readFileSync = ((...args: Parameters<typeof read>) => {
      const content = read(...args);
      if (args[0] !== file) return content;
      restoreReads();
      action();
      return content;
    }) as typeof read;
    syncBuiltinESMExports();
  }

  const nextRead = () => new Promise<void>((resolve) => afterNextRead(resolve));

  it('is not taken from a build that has acquired it since somebody saw a stale one', async () => {
    writeFileSync(file, GONE);
    const gate = createGate();
    const events: string[] = [];
    let first: Promise<void> | undefined;
    afterNextRead(() => {
      rmSync(file);
      first = withLock(file, async () => {
        events.push('first begins');
        await gate.opened;
        events.push('first ends');
      });
    });
    const second = withLock(file, () => void events.push('second'));
    await Promise.race([nextRead(), second]);
    gate.open();
    await Promise.all([first, second]);
    assert.deepEqual(events, ['first begins', 'first ends', 'second']);
    assert.deepEqual(fs.readdirSync(folder), []);
  });

  it('of a process that runs is not stale, however old it is', async () => {
    const events: string[] = [];
    const gate = createGate();
    const first = withLock(file, async () => {
      utimesSync(file, 0, 0);
      await gate.opened;
      events.push('first');
    });
    const second = withLock(file, () => void events.push('second'));
    await Promise.race([nextRead(), second]);
    gate.open();
    await Promise.all([first, second]);
    assert.deepEqual(events, ['first', 'second']);
  });

  it('is removed at the end of a build only if it is still its own', async () => {
    await withLock(file, () => writeFileSync(file, GONE));
    assert.equal(readFileSync(file, 'utf8'), GONE);
  });

  it('of a process that is gone counts no more, nor does that of another process which had the same pid', async () => {
    for (const owner of [GONE, `${process.pid} 1`, '']) {
      writeFileSync(file, owner);
      await withLock(file, () => undefined);
      assert.ok(!existsSync(file), owner);
    }
    // A process that ended while it removed a stale lock.
    writeFileSync(file, GONE);
    writeFileSync(`${file}.removal`, GONE);
    await withLock(file, () => undefined);
    assert.deepEqual(fs.readdirSync(folder), []);
  });
});
