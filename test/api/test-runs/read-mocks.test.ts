// Tests the keys of mocks. A request may have thousands of them, of any length.
import assert from 'node:assert/strict';
import type { Db } from '../../../db/core/client.js';
import { ApiError } from '../../../api/http/errors.js';
import { readMocks, splitKey } from '../../../api/test-runs/read-mocks.js';
import type { Document } from '../../../graph/document.js';

describe('the keys of mocks', () => {
  const document = { startNode: 'a', nodes: [{ id: 'a', kind: 'set', data: {} }] } as unknown as Document;
  const db = {} as Db;

  it('are split at the first @ behind a known id, however long the id may be', () => {
    const longest = '\u{1f600}'.repeat(200);
    const known = new Set(['a', 'a@b', longest]);
    assert.deepEqual(splitKey('a@b', known), { nodeId: 'a@b', path: '*' });
    assert.deepEqual(splitKey('a@loop[0]', known), { nodeId: 'a', path: 'loop[0]' });
    assert.deepEqual(splitKey(`${longest}@loop[0]`, known), { nodeId: longest, path: 'loop[0]' });
    assert.deepEqual(splitKey('c@loop[0]', known), { nodeId: 'c@loop[0]', path: '*' });
  });

  it('are looked up by their prefixes only up to the maximum length of an id', () => {
    const key = '@'.repeat(16_384);
    const looked: number[] = [];
    splitKey(key, { has: (id) => looked.push(id.length) < 0 });
    assert.deepEqual(looked.slice(0, 2), [key.length, 0]);
    assert.equal(looked.length, 402);
    assert.equal(Math.max(...looked.slice(1)), 400);
  });

  it('name an iteration after the @', async () => {
    const read = (path: string) => readMocks(db, 1, { mocks: { [`a@${path}`]: { content: '' } }, document });
    const longest = `${'l'.repeat(1_597)}[0]`;
    for (const path of ['loop[0]', 'loop[3]/inner[0]', longest]) assert.equal((await read(path))[0]!.path, path);
    for (const path of ['', 'loop', 'loop[x]', 'loop[0]\0', `l${longest}`, `${'\u{1f600}'.repeat(400)}[0]`]) {
      await assert.rejects(read(path), (error: unknown) => {
        assert.ok(error instanceof ApiError);
        assert.deepEqual([error.status, Object.keys(error.fields!)], [400, ['mocks']]);
        assert.match(error.fields!['mocks']![0]!, /must be like `LOOP\[3\]/);
        return true;
      });
    }
  });

  it('are at most 1,000', async () => {
    const mocks = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`a@loop[${index}]`, { content: '' }]));
    assert.equal((await readMocks(db, 1, { mocks: mocks(1_000), document })).length, 1_000);
    await assert.rejects(readMocks(db, 1, { mocks: mocks(1_001), document }), { status: 400, code: 'too_many_mocks' });
  });
});
