import assert from 'node:assert/strict';
import { isDeeperThan } from '../../graph/json-depth.js';
import { parseJson } from '../../graph/json-text.js';

describe('the depth of JSON', () => {
  it('counts lists and objects, but no numbers, however long', () => {
    for (const leaf of ['1', '12345678901234567890', '"x"', 'null']) {
      const value = parseJson(`[{"a": ${leaf}}]`);
      assert.deepEqual([isDeeperThan(value, 1), isDeeperThan(value, 2)], [true, false], leaf);
    }
  });
});
