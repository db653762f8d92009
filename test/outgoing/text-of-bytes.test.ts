// The encodings of answers and files, as the encoding standard of the WHATWG reads them.
import assert from 'node:assert/strict';
import { TextDecoder } from '@exodus/bytes/encoding.js';
import { isText, textOfBytes } from '../../outgoing/text-of-bytes.js';

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const WHOLE = true;
/** 姓名 in GBK. */
const NAME_GBK = '\xd0\xd5\xc3\xfb';

async function read(given: Buffer, type?: string): Promise<string> {
  const { text, isExact } = await textOfBytes(given, type);
  assert.equal(isExact, true, JSON.stringify(text));
  return text;
}

describe('the text of bytes', () => {
  it('is read by the declared charset, whose labels mean what browsers take them for', async () => {
    for (const label of ['windows-1252', 'iso-8859-1', 'latin1', 'us-ascii', '"ISO-8859-1"', "'cp1252'"]) {
      assert.equal(await read(bytes('\x80\x93\xe4\x94\x9f'), `text/plain; charset=${label}`), '€“ä”Ÿ', label);
    }
    const cases: [type: string, given: Buffer, text: string][] = [
      ['text/csv;charset=gbk', bytes(NAME_GBK), '姓名'],
      ['text/csv; header=present; CHARSET = "GB2312"', bytes(NAME_GBK), '姓名'],
      ['text/plain; charset=Shift_JIS', bytes('\x83\x65\x83\x58\x83\x67'), 'テスト'],
      ['text/plain; charset=euc-kr', bytes('\xc7\xd1'), '한'],
      ['text/plain; charset=koi8-r', bytes('\xed\xc9\xd2'), 'Мир'],
      ['text/csv; charset=utf-16le', Buffer.from('größe', 'utf16le'), 'größe'],
      ['text/csv; charset=utf-16', Buffer.from('größe', 'utf16le'), 'größe'],
      ['text/csv; charset=utf-16be', Buffer.from('größe', 'utf16le').swap16(), 'größe'],
    ];
    for (const [type, given, text] of cases) assert.equal(await read(given, type), text, type);
  });

  it('is read by its mark before any charset', async () => {
    for (const type of [undefined, 'text/csv; charset=gbk', 'text/html; charset=utf-16be']) {
      assert.equal(await read(Buffer.from('\ufeffä'), type), 'ä');
      assert.equal(await read(Buffer.from('\ufeffä', 'utf16le'), type), 'ä');
      assert.equal(await read(Buffer.from('\ufeffä', 'utf16le').swap16(), type), 'ä');
    }
  });

  it('is read by the declaration in the first 1,024 bytes of HTML and XML, behind the charset', async () => {
    const html = (head: string) => bytes(`<!DOCTYPE html><html><head>${head}</head>${NAME_GBK}`);
    const metas = [
      '<meta charset=gbk>',
      '<META CharSet = "GB2312"/>',
      `<meta http-equiv="Content-Type" content="text/html; charset=gbk">`,
      `<!-- <meta charset=koi8-r> --><meta charset=gbk>`,
      `${' '.repeat(900)}<meta charset=gbk>`,
    ];
    for (const meta of metas) {
      for (const type of ['text/html', undefined, 'application/octet-stream']) {
        assert.match(await read(html(meta), type), /姓名$/, `${type} ${meta}`);
      }
    }
    assert.match(await read(html('<meta charset=gbk>'), 'text/html; charset=koi8-r'), /псцШ$|[а-я]{4}$/i);
    assert.match(
      await read(bytes('<meta charset=utf-16>\xc3\xa4'), 'text/html'),
      /ä$/,
      'read byte by byte, so no UTF-16',
    );
    for (const type of ['application/xml', 'text/xml', 'application/atom+xml', 'text/html', undefined]) {
      assert.match(await read(bytes(`<?xml version="1.0" encoding='GBK'?><a>${NAME_GBK}</a>`), type), /<a>姓名</);
      assert.match(await read(bytes(`<?xml version="1.0" encoding="iso-8859-1"?><a>\x80</a>`), type), /<a>€</);
    }
    const late = bytes(`<html>${' '.repeat(1_100)}<meta charset=koi8-r>\xc3\xa4`);
    assert.match(await read(late, 'text/html'), /ä$/, 'too late to count');
    assert.equal(await read(bytes('<meta charset=gbk>\xc3\xa4'), 'text/plain'), '<meta charset=gbk>ä', 'no HTML');
  });

  it('is UTF-8 without a charset, else what a detector finds', async () => {
    assert.equal(await read(Buffer.from('naïve 😀'), 'text/plain'), 'naïve 😀');
    assert.equal(await read(Buffer.from('naïve'), 'text/plain; charset=nonsense'), 'naïve', 'no such encoding');
    assert.equal(
      await read(Buffer.from('naïve'), 'text/plain; charset=iso-2022-kr'),
      'naïve',
      'one that is not decoded',
    );
    const cases: [given: Buffer, text: string][] = [
      [bytes('Name;Ort\nM\xfcller;K\xf6ln\n'), 'Name;Ort\nMüller;Köln\n'],
      [bytes('id,price\n1,\x80 5\n'), 'id,price\n1,€ 5\n'],
      [bytes('na\xefve r\xe9sum\xe9, d\xe9j\xe0 vu'), 'naïve résumé, déjà vu'],
      [bytes('\xd5\xe2\xca\xc7\xd2\xbb\xb8\xf6\xb2\xe2\xca\xd4\xce\xc4\xbc\xfe'), '这是一个测试文件'],
      [bytes('\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd\x90\xa2\x8a\x45'), 'こんにちは世界'],
      [bytes('\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0. \xdd\xf2\xee \xf2\xe5\xea\xf1\xf2'), 'Привет, мир. Это текст'],
      [Buffer.from('name,city\nAnn,Oslo\n', 'utf16le'), 'name,city\nAnn,Oslo\n'],
      [Buffer.from('姓名,城市\n王小明,北京\n', 'utf16le'), '姓名,城市\n王小明,北京\n'],
    ];
    for (const [given, text] of cases) assert.equal(await read(given), text);
    assert.equal(await read(bytes('a\0b')), 'a\0b', 'UTF-8 may have null characters');
  });

  it('is decoded in at most five encodings, the likeliest, if no charset is declared', async () => {
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its decoder
    const { decode } = TextDecoder.prototype;
    const tried: string[] = [];
    TextDecoder.prototype.decode = function (
      this: InstanceType<typeof TextDecoder>,
      ...given: Parameters<typeof decode>
    ) {
      if (this.fatal && this.encoding !== 'utf-8') tried.push(this.encoding);
      return decode.apply(this, given);
    };
    try {
      assert.equal(await read(bytes(' nie\x90Stra\x90')), ' nieђStraђ');
      assert.deepEqual([tried.length, tried.at(-1)], [5, 'windows-1251']);
      tried.length = 0;
      // No text contains this control character, in any encoding.
      const { isExact } = await textOfBytes(bytes('na\xefve r\xe9sum\xe9, d\xe9j\xe0 vu\x7f'), 'text/plain');
      assert.deepEqual([isExact, tried.length], [false, 5], tried.join());
    } finally {
      TextDecoder.prototype.decode = decode;
    }
  });

  it('has U+FFFD for what cannot be read, and says so', async () => {
    const cases: [given: Buffer, type: string | undefined, encoding: string | undefined][] = [
      [bytes('M\xfcller'), 'text/plain; charset=utf-8', 'utf-8'],
      [bytes('a\x81'), 'text/plain; charset=gbk', 'gbk'],
      [bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff'), 'image/png', undefined],
    ];
    for (const [given, type, encoding] of cases) {
      const found = await textOfBytes(given, type);
      assert.deepEqual([found.isExact, found.encoding], [false, encoding], type);
      assert.match(found.text, /\ufffd/);
    }
  });

  it('is known from the beginning of a body, which may end within a character', async () => {
    for (const text of ['ä€😀', 'M\xfcller']) {
      const given = text === 'ä€😀' ? Buffer.from(text) : bytes(text);
      for (let end = 1; end <= given.length; end += 1) {
        assert.equal(await isText(given.subarray(0, end), !WHOLE), true, `${text} up to ${end}`);
      }
    }
    assert.equal(await isText(Buffer.alloc(0), WHOLE), true);
    assert.equal(await isText(bytes('\x01\x02\xff\xfe'), WHOLE), false);
    assert.equal(await isText(bytes('GIF89a\0\0\xff'), !WHOLE), false);
    assert.equal(await isText(bytes('a\0b'), WHOLE), false);
  });

  it('of ten mebibytes in an unknown encoding is found without reading all of it', async () => {
    const line = bytes('Gr\xf6\xdfe;Preis;St\xfcck\n');
    const given = Buffer.alloc(10 * 1024 * 1024, line);
    await read(line);
    const before = process.cpuUsage();
    assert.equal((await read(given)).slice(0, 20), 'Größe;Preis;Stück\nGr');
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 5_000_000, `${(user + system) / 1e6} s of processor time`);
  });
});
