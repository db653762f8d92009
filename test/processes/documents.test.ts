import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { strFromU8, unzipSync, zipSync } from 'fflate';
import { docxOf, encryptedPdf, pdfOf, PNG, xlsxOf } from '../support/documents.js';
import { useDocumentTexts } from './document-texts.js';

describe('texts of documents', function () {
  this.timeout(120_000);
  const { textOf, errorOf } = useDocumentTexts();
  const broken = (message: string) => ['invalid_document', `The document "a \\"b\\"" ${message}.`];

  it('are those that PDF, DOCX and XLSX show, and of other files their characters', async () => {
    assert.equal(await textOf(pdfOf('Invoice 7703')), 'Invoice 7703');
    assert.equal(await textOf(docxOf('Grüße &amp; Co', '<w:p><w:r><w:t>more</w:t></w:r></w:p>')), 'Grüße & Co\n\nmore');
    const rows = [
      ['item', 'price'],
      ['a, b', 1.5],
    ];
    assert.equal(await textOf(xlsxOf(rows)), 'Prices\nitem,price\n"a, b",1.5');
    assert.equal(await textOf(Buffer.from('\ufeffä')), 'ä');
    assert.equal(await textOf(Buffer.from('\ufeffä€', 'utf16le')), 'ä€');
    assert.equal(await textOf(Buffer.alloc(0)), '');
  });

  it('of files in other encodings are read as their type, their mark or their bytes say, or are errors', async () => {
    const gbk = Buffer.from('d0d5c3fb', 'hex');
    assert.equal(await textOf(gbk, { type: 'text/csv; charset=gbk' }), '姓名');
    assert.equal(await textOf(Buffer.from('M\xfcller;K\xf6ln', 'latin1')), 'Müller;Köln');
    assert.deepEqual(await errorOf(gbk, 'text/csv; charset=utf-8'), [
      'file_encoding',
      'The file "a \\"b\\"" cannot be read as text: it is not in its encoding, utf-8.',
    ]);
    assert.deepEqual(await errorOf(PNG), [
      'file_encoding',
      'The file "a \\"b\\"" cannot be read as text: its encoding cannot be told.',
    ]);
  });

  it('of parts in UTF-16, as some programs write them, are those of UTF-8', async () => {
    const inUtf16 = (bytes: Buffer, part: string): Buffer => {
      const parts = unzipSync(bytes);
      const xml = strFromU8(parts[part]!).replace('?>', ' encoding="UTF-16"?>');
      return Buffer.from(zipSync({ ...parts, [part]: Buffer.from(`\ufeff${xml}`, 'utf16le') }));
    };
    assert.equal(await textOf(inUtf16(docxOf('Grüße 😀'), 'word/document.xml')), 'Grüße 😀');
    assert.equal(await textOf(inUtf16(xlsxOf([['ä', 1]]), 'xl/worksheets/sheet1.xml')), 'Prices\nä,1');
  });

  it('of documents without any are empty', async () => {
    for (const bytes of [pdfOf(''), pdfOf('  '), docxOf(''), docxOf('\u00a0')]) assert.equal(await textOf(bytes), '');
  });

  it('of broken and encrypted documents are errors that say so', async () => {
    assert.deepEqual(await errorOf(Buffer.from('%PDF-1.7 and no more')), broken('is broken'));
    assert.deepEqual(await errorOf(encryptedPdf()), broken('is encrypted'));
    const docx = docxOf('x'.repeat(10_000));
    assert.deepEqual(await errorOf(docx.subarray(0, docx.length - 40)), broken('is broken'));
    const xlsx = xlsxOf([[1]]);
    assert.deepEqual(await errorOf(xlsx.subarray(0, xlsx.length - 30)), broken('is broken'));
    const old = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), randomBytes(1000)]);
    assert.deepEqual(await errorOf(old), broken('is encrypted, or of a format before DOCX and XLSX'));
  });
});
