import assert from 'node:assert/strict';
import { decodeName } from '../../../api/files/upload.js';

const readAsLatin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('the header X-File-Name', () => {
  it('names a file in percent-encoded UTF-8, in plain UTF-8, or in latin-1', () => {
    for (const [header, name] of [
      ['r%C3%A9sum%C3%A9.pdf', 'résumé.pdf'],
      [readAsLatin1('résumé 東京.pdf'), 'résumé 東京.pdf'],
      ['r\xe9sum\xe9.pdf', 'résumé.pdf'],
      [undefined, ''],
    ] as const) {
      assert.equal(decodeName(header), name);
    }
    assert.throws(() => decodeName('%ff'), { status: 400 });
  });
});
