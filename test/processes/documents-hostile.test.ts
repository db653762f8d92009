import assert from 'node:assert/strict';
import { unzipSync, zipSync } from 'fflate';
import { deflatedSpaces, docxOf, pdfOf, pdfWith } from '../support/documents.js';
import { useDocumentTexts } from './document-texts.js';

describe('texts of hostile documents', function () {
  this.timeout(600_000);
  const { textOf, errorOf } = useDocumentTexts();

  it('of archives and pages that expand are refused, and the processes work on', async () => {
    const bomb = docxOf('x', `<w:p>${' '.repeat(80 * 1024 * 1024)}</w:p>`);
    assert.equal(bomb.length < 200_000, true);
    const [code, message] = await errorOf(bomb);
    assert.deepEqual([code, /expands to more than/.test(message)], ['file_too_large', true]);
    // An archive that declares a wrong size for its content.
    const liar = Buffer.from(bomb);
    for (let at = liar.indexOf('PK\x01\x02'); at >= 0; at = liar.indexOf('PK\x01\x02', at + 1)) {
      liar.writeUInt32LE(Math.min(liar.readUInt32LE(at + 24), 5_000), at + 24);
    }
    assert.equal((await errorOf(liar))[0], 'invalid_document');
    const pdf = pdfWith({ content: await deflatedSpaces(700) });
    assert.equal(pdf.length < 16 * 1024 * 1024, true);
    assert.equal((await errorOf(pdf))[0], 'file_too_large');
    assert.equal(await textOf(pdfOf('still here')), 'still here');
  });

  it('of archives whose uncompressed parts declare no size, and share their bytes, are refused', async () => {
    const parts = Object.fromEntries(
      Array.from({ length: 80 }, (_, part) => [`word/${String(part).padStart(4, '0')}.xml`, Buffer.alloc(0)]),
    );
    const shared = Buffer.alloc(1024 * 1024, ' ');
    const archive = Buffer.from(zipSync({ 'word/all.xml': shared, ...unzipSync(docxOf('x')), ...parts }, { level: 0 }));
    // Each empty part points at the bytes of the first part.
    let at = archive.indexOf('PK\x01\x02');
    const first = archive.readUInt32LE(at + 42);
    for (; at >= 0; at = archive.indexOf('PK\x01\x02', at + 1)) {
      if (archive.readUInt32LE(at + 24) > 0) continue;
      archive.writeUInt32LE(shared.length, at + 20);
      archive.writeUInt32LE(first, at + 42);
    }
    const [code, message] = await errorOf(archive);
    assert.deepEqual([code, /expands to more than/.test(message)], ['file_too_large', true], message);
  });

  it('end with their signal', async () => {
    const stop = new AbortController();
    const asked = textOf(pdfWith({ content: await deflatedSpaces(200) }), { signal: stop.signal });
    stop.abort(new Error('stopped'));
    await assert.rejects(asked, /stopped/);
  });
});
