import assert from 'node:assert/strict';
import { pino } from 'pino';
import { startSweepingFiles } from '../../../api/background/sweep-files.js';
import { createFiles } from '../../../files/files.js';
import { createFileSealer } from '../../../files/sealed-copy.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the sweep of files', () => {
  it('removes no further bytes when the process stops', async () => {
    const copies = Array.from({ length: 200 }, (_, index) => ({ id: `c${index}`, name: `n${index}` }));
    // Another process holds the lock of the rows.
    const db = playedDatabase(({ sql }) => ({ rows: sql.includes('"isHeld"') ? [{ isHeld: false }] : copies }));
    const removed: string[] = [];
    let hasBegun = (): void => undefined;
    const begun = new Promise<void>((resolve) => (hasBegun = resolve));
    let goOn = (): void => undefined;
    const isStopping = new Promise<void>((resolve) => (goOn = resolve));
    const store = {
      bufferBytes: 0,
      async remove(name: string) {
        removed.push(name);
        hasBegun();
        await isStopping;
      },
    };
    const files = createFiles({ db, store: store as never, sealer: createFileSealer([Buffer.alloc(32)]), maxBytes: 1 });
    const config = { resultRetentionDays: 30 };
    const sweep = startSweepingFiles({ db, files, config, logger: pino({ level: 'silent' }) });
    await begun;
    const stopped = sweep.stop();
    goOn();
    await stopped;
    assert.deepEqual(removed, ['n0']);
  });
});
