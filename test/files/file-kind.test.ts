import assert from 'node:assert/strict';
import { fileKindOf } from '../../files/file-kind.js';

describe('the kind of a file', () => {
  const kindOf = (...parts: (string | number[])[]): string => {
    const bytes = Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
    );
    const found = fileKindOf(bytes);
    return found.kind === 'audio' ? found.format : found.kind;
  };

  it('is sound for WAV, and for MP3 with tags or without', () => {
    assert.equal(kindOf('RIFF\x24\x08\0\0WAVEfmt '), 'wav');
    assert.equal(kindOf('ID3\x04\0\0'), 'mp3');
    for (const version of [0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xe2])
      assert.equal(kindOf([0xff, version, 0x90, 0x64]), 'mp3');
  });

  it('is not sound for what only begins like it', () => {
    assert.equal(kindOf('RIFF\x24\x08\0\0WEBPVP8 '), 'image');
    assert.equal(kindOf('RIFF\x24\x08\0\0AVI \0'), 'other');
    assert.equal(kindOf([0xff, 0xfe], 'h\0i\0'), 'other', 'UTF-16');
    assert.equal(kindOf([0xff, 0xf1, 0x50, 0x80, 0]), 'other', 'AAC');
    for (const rates of [0x00, 0xf0, 0x9c]) assert.equal(kindOf([0xff, 0xfb, rates, 0x64]), 'other');
    for (const version of [0xeb, 0xea, 0xff, 0xf9]) assert.equal(kindOf([0xff, version, 0x90, 0x64]), 'other');
    assert.equal(kindOf([0xff]), 'other');
    assert.equal(kindOf('ID'), 'other');
  });
});
