import assert from 'node:assert/strict';
import { textOfContent } from '../../graph/message-text.js';

describe('the text of the content of a message', () => {
  const rows: [content: unknown, text: string | null | undefined][] = [
    ['Hello', 'Hello'],
    ['', ''],
    [null, null],
    [undefined, null],
    [[], ''],
    [
      [
        { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
        { type: 'text', text: '{"n":391}' },
      ],
      '{"n":391}',
    ],
    [[{ type: 'output_text', text: 'a' }, { text: 'b' }, 'c', { type: null, text: 'd' }], 'abcd'],
    [
      [
        { type: 'thinking', text: 'hm' },
        { type: 'reasoning', text: 'hm' },
        { type: 'refusal', refusal: 'no' },
      ],
      '',
    ],
    [[{ type: 'text', text: { value: 'x' } }, { type: 'text' }, null, 7, ['x']], ''],
    [{ type: 'text', text: 'x' }, undefined],
    [7, undefined],
    [false, undefined],
  ];
  for (const [content, text] of rows) {
    it(`of ${JSON.stringify(content)} is ${JSON.stringify(text)}`, () => assert.equal(textOfContent(content), text));
  }
});
