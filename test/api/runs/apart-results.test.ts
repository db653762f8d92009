import assert from 'node:assert/strict';
import type { AnswerMemory } from '../../../api/http/json-text.js';
import { readApartFrom } from '../../../api/runs/apart-results.js';
import { playedDatabase } from '../../support/played-database.js';

describe('results that are read apart from their run', () => {
  it('give their memory back, those of the last group too, once the last result of the group was sent', async () => {
    const db = playedDatabase(({ parameters }) => {
      const ids = parameters.find((value): value is string[] => Array.isArray(value)) ?? [];
      return { rows: ids.map((nodeId) => ({ nodeId, shown: '{"content":"x"}' })) };
    });
    let heldBytes = 0;
    const memory: AnswerMemory = {
      take: (bytes) => Promise.resolve(void (heldBytes += bytes)),
      give: (bytes) => (heldBytes -= bytes),
    };
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, apartBytes: 100_000 }));
    const read = readApartFrom(db, { runId: crypto.randomUUID(), path: '' }, nodes);
    const held: boolean[] = [];
    for (const { id } of nodes) {
      for await (const text of read(id).pieces(memory)) assert.equal(text, '{"content":"x"}');
      held.push(heldBytes > 0);
    }
    assert.deepEqual(held, [true, false, false], 'a group has two of these results');
    assert.equal(heldBytes, 0);
  });
});
