import assert from 'node:assert/strict';
import { weighFiles } from '../../config/file-tokens.js';

describe('the files of a prompt', () => {
  const weigh = (part: object) => weighFiles([{ content: [{ type: 'text', text: 'Look' }, part] }]);

  it('are reserved by their kind and their bytes, and not as the text of their base64', () => {
    const data = Buffer.alloc(3_000).toString('base64');
    const url = `data:image/png;base64,${data}`;
    const file_data = `data:application/pdf;base64,${data}`;
    const parts: [part: object, left: object, tokens: number][] = [
      [{ type: 'image_url', image_url: { url } }, { type: 'image_url' }, 2_000],
      [{ type: 'file', file: { filename: 'a.pdf', file_data } }, { type: 'file', file: { filename: 'a.pdf' } }, 500],
      [
        { type: 'input_audio', input_audio: { data, format: 'wav' } },
        { type: 'input_audio', input_audio: { format: 'wav' } },
        30,
      ],
    ];
    for (const [part, left, tokens] of parts) {
      assert.deepEqual(weigh(part), { messages: [{ content: [{ type: 'text', text: 'Look' }, left] }], tokens });
    }
  });

  it('add no tokens where a part has no file', () => {
    for (const part of [null, 'x', {}, { type: 'input_audio' }, { type: 'input_audio', input_audio: { data: 7 } }]) {
      assert.equal(weigh(part as object).tokens, 0);
    }
  });
});
