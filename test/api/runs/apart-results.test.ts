import assert from 'node:assert/strict';
import type { AnswerMemory } from '../../../api/http/json-text.js';
import { readApartFrom } from '../../../api/runs/apart-results.js';
import { playedDatabase } from '../../support/played-database.js';

const playResults = () =>
  playedDatabase(({ parameters }) => {
    const ids = parameters.find((value): value is string[] => Array.isArray(value)) ?? [];
    return { rows: ids.map((nodeId) => ({ nodeId, shown: '{"content":"x"}' })) };
  });

describe('results that are read apart from their run', () => {
  it('give their memory back, those of the last group too, once the last result of the group was sent', async () => {
    const db = playResults();
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

  it('take and give the memory of each answer by itself, if several answers are sent from one body', async () => {
    const nodes = ['a', 'b', 'c', 'd'].map((id) => ({ id, apartBytes: 100_000 }));
    const read = readApartFrom(playResults(), { runId: crypto.randomUUID(), path: '' }, nodes);
    const open = () => {
      const heldBytes = [0];
      const change = (bytes: number): void => void heldBytes.push(heldBytes.at(-1)! + bytes);
      const memory: AnswerMemory = {
        take: (bytes) => Promise.resolve(change(bytes)),
        give: (bytes) => change(-bytes),
      };
      return { heldBytes, memory };
    };
    // The second answer stops at the second result, like a caller that reads slowly, while the first one is sent.
    const send = async ({ memory }: { memory: AnswerMemory }, ids: string[]): Promise<void> => {
      for (const id of ids) for await (const text of read(id).pieces(memory)) assert.equal(text, '{"content":"x"}');
    };
    const [first, second] = [open(), open()];
    await send(second, ['a']);
    await send(first, ['a', 'b', 'c', 'd']);
    await send(second, ['b', 'c', 'd']);
    const takenBytes = first.heldBytes[1]!;
    for (const { heldBytes } of [first, second]) assert.deepEqual(heldBytes, [0, takenBytes, 0, takenBytes, 0]);
  });
});
