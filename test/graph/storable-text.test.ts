import assert from 'node:assert/strict';
import { toStorable, toStorableJson } from '../../graph/storable-text.js';

describe('texts that can be stored', () => {
  const texts: [given: string, stored: string][] = [
    ['plain', 'plain'],
    ['😀', '😀'],
    ['\0', '\uFFFD'],
    ['\ud83d', '\uFFFD'],
    ['a\ude00b', 'a\uFFFDb'],
    ['\ud83d\ud83d\ude00', '\uFFFD😀'],
    [String.raw`\u0000 \ud83d \\ud83d`, String.raw`\u0000 \ud83d \\ud83d`],
    ['"\\\ud83d"', '"\\\uFFFD"'],
  ];

  for (const [given, stored] of texts) {
    it(`${JSON.stringify(given)} is ${JSON.stringify(stored)}, alone and in JSON`, () => {
      assert.equal(toStorable(given), stored);
      assert.deepEqual(JSON.parse(toStorableJson(JSON.stringify({ [given]: [given] }))), { [stored]: [stored] });
    });
  }
});
