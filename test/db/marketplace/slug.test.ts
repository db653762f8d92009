import assert from 'node:assert/strict';
import { firstFreeSlug, toSlug } from '../../../db/marketplace/slug.js';

describe('slugs', () => {
  const cases: [title: string, slug: string][] = [
    ['News Digest', 'news-digest'],
    ['  --Ünïcode & Çase!! 2.0 ', 'unicode-case-2-0'],
    ['ﬁne ①', 'fine-1'],
    ['GPT для погоды', 'gpt'],
    ['Погода', ''],
    ['天気 🌦', ''],
    ['../../etc/passwd?x=%00', 'etc-passwd-x-00'],
    ['a'.repeat(200), 'a'.repeat(80)],
    [`${'a'.repeat(79)} b`, 'a'.repeat(79)],
  ];
  for (const [title, slug] of cases) {
    it(`"${title.slice(0, 30)}" becomes "${slug.slice(0, 30)}"`, () => assert.equal(toSlug(title), slug));
  }

  it('a taken slug gets the first free number', () => {
    assert.equal(firstFreeSlug('a', new Set()), 'a');
    assert.equal(firstFreeSlug('a', new Set(['a'])), 'a-2');
    assert.equal(firstFreeSlug('a', new Set(['a', 'a-2', 'a-4'])), 'a-3');
    assert.equal(firstFreeSlug('a', new Set(['a-2'])), 'a');
  });
});
