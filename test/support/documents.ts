// Small documents for tests.
import { deflateSync, constants, createDeflate } from 'node:zlib';
import { utils, write } from '@e965/xlsx';
import { strToU8, zipSync } from 'fflate';

/** A picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A PDF of one page with this text, which must not contain parentheses. */
export function pdfOf(text: string): Buffer {
  const shown = `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
  return pdfWith({ content: deflateSync(shown) });
}

interface PdfParts {
  /** The deflated content of its page. */
  content: Buffer;
  /** Further entries of its trailer. */
  trailer?: string;
}

export function pdfWith({ content, trailer = '' }: PdfParts): Buffer {
  const head = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Length ${content.length} /Filter /FlateDecode >>`,
  ];
  const pieces: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  const length = (): number => pieces.reduce((sum, piece) => sum + piece.length, 0);
  for (const [index, each] of head.entries()) {
    offsets.push(length());
    pieces.push(Buffer.from(`${index + 1} 0 obj\n${each}\n`));
    if (index === 4) pieces.push(Buffer.from('stream\n'), content, Buffer.from('\nendstream\n'));
    pieces.push(Buffer.from('endobj\n'));
  }
  const start = length();
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = head.length + 1;
  pieces.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(pieces);
}

/** A PDF that requires a password. */
export function encryptedPdf(): Buffer {
  const bytes = `<${'ab'.repeat(32)}>`;
  const encrypt = `<< /Filter /Standard /V 1 /R 2 /O ${bytes} /U ${bytes} /P -44 >>`;
  return pdfWith({ content: deflateSync('BT ET'), trailer: `/Encrypt ${encrypt} /ID [${bytes} ${bytes}]` });
}

/** A few bytes that inflate to `mib` MiB of spaces. */
export async function deflatedSpaces(mib: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const deflate = createDeflate({ level: constants.Z_BEST_SPEED });
  deflate.on('data', (piece: Buffer) => pieces.push(piece));
  const piece = Buffer.alloc(1024 * 1024, ' ');
  for (let written = 0; written < mib; written += 1) {
    await new Promise<void>((resolve) => void deflate.write(piece, () => resolve()));
  }
  await new Promise<void>((resolve) => void deflate.end(() => resolve()));
  return Buffer.concat(pieces);
}

const TYPES = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const RELATIONS = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** `more`: further XML in its text. */
export function docxOf(text: string, more = ''): Buffer {
  const document = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:body><w:p><w:r><w:t>${text}</w:t></w:r></w:p>${more}</w:body></w:document>`;
  return Buffer.from(
    zipSync({
      '[Content_Types].xml': strToU8(TYPES),
      '_rels/.rels': strToU8(RELATIONS),
      'word/document.xml': strToU8(document),
    }),
  );
}

export function xlsxOf(rows: unknown[][]): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows), 'Prices');
  return write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
}
