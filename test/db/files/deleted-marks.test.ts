import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { markPieces } from '../../../db/files/deleted-marks.js';
import { playedDatabase } from '../../support/played-database.js';

describe('the marks of deleted files in a text that comes in pieces', () => {
  it('stand at each file, and no piece ends within a character, because each piece is encoded by itself', async () => {
    const id = randomUUID();
    const db = playedDatabase(() => ({ rows: [{ id }] }));
    const file = `{"file_id":"${id}"}`;
    for (let behind = 0; behind < 4; behind += 1) {
      const pieces = ['😀'.repeat(500) + 'x'.repeat(behind), file, '😀'.repeat(301), file + '😀'];
      // oxlint-disable-next-line typescript/require-await -- the pieces of a result come asynchronously
      async function* source() {
        yield* pieces;
      }
      const encoded: Buffer[] = [];
      for await (const piece of markPieces(db, randomUUID(), source())) encoded.push(Buffer.from(piece));
      const whole = pieces.join('').replaceAll(file, `{"file_id":"${id}","deleted":true}`);
      assert.equal(Buffer.concat(encoded).toString(), whole);
    }
  });
});
