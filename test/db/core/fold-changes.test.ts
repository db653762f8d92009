import assert from 'node:assert/strict';
import { FOLDED_AT_ONCE, foldAll } from '../../../db/core/fold-changes.js';
import { playedDatabase } from '../../support/played-database.js';

describe('folding of changes', () => {
  const db = playedDatabase(() => ({ rows: [{ isHeld: true }] }));

  it('goes on until fewer are left than one statement folds', async () => {
    const counts = [FOLDED_AT_ONCE, FOLDED_AT_ONCE, 3];
    await foldAll(db, 'stored-bytes', () => Promise.resolve(counts.shift()!));
    assert.deepEqual(counts, []);
  });

  it('ends after the present statement when the process stops', async () => {
    const stopping = new AbortController();
    let rounds = 0;
    const foldSome = (): Promise<number> => {
      rounds += 1;
      if (rounds === 2) stopping.abort();
      return Promise.resolve(rounds > 5 ? 0 : FOLDED_AT_ONCE);
    };
    await foldAll(db, 'stored-bytes', foldSome, stopping.signal);
    assert.equal(rounds, 2);
  });
});
