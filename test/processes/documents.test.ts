import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createDocumentTexts, type DocumentTexts } from '../../activities/node/document-texts.js';
import { createProcesses, DOCUMENT_LIMITS, type Processes } from '../../processes/processes.js';
import { deflatedSpaces, docxOf, encryptedPdf, pdfOf, pdfWith, PNG, xlsxOf } from '../support/documents.js';

const ENTRY = new URL('../../dist/processes/host.js', import.meta.url);

describe('texts of documents', function () {
  this.timeout(120_000);
  let processes: Processes;
  let texts: DocumentTexts;

  before(() => {
    processes = createProcesses(ENTRY, DOCUMENT_LIMITS);
    texts = createDocumentTexts(processes);
  });
  after(() => processes.close());

  const textOf = (bytes: Buffer, signal = new AbortController().signal): Promise<string> =>
    texts.textOf(bytes, { name: 'a "b"', projectId: 1, signal });
  async function errorOf(bytes: Buffer): Promise<[string, string]> {
    const error = await textOf(bytes).then(
      (text) => assert.fail(`a text: ${text.slice(0, 100)}`),
      (thrown: unknown) => thrown as { code: string; message: string },
    );
    return [error.code, error.message];
  }
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
    assert.equal((await textOf(PNG)).includes('\ufffd'), true);
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

  it('of archives and pages that expand are refused, and the processes work on', async () => {
    const bomb = docxOf('x', `<w:p>${' '.repeat(80 * 1024 * 1024)}</w:p>`);
    assert.equal(bomb.length < 200_000, true);
    const [code, message] = await errorOf(bomb);
    assert.deepEqual([code, /expands to more than/.test(message)], ['file_too_large', true]);
    // An archive that lies about the size of what it holds.
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

  it('end with their signal', async () => {
    const stop = new AbortController();
    const asked = textOf(pdfWith({ content: await deflatedSpaces(200) }), stop.signal);
    stop.abort(new Error('stopped'));
    await assert.rejects(asked, /stopped/);
  });
});
