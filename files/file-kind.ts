// What the bytes of a file are, whatever its declared type says. Extensions, section 12.
export type DocumentKind = 'pdf' | 'docx' | 'xlsx';

export type FileKind =
  | { kind: 'image'; type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' }
  | { kind: DocumentKind }
  /** Office files with a password, and those of the formats before 2007. */
  | { kind: 'old_office' }
  /** Text, or none of these. */
  | { kind: 'other' };

const OLD_OFFICE = 'd0cf11e0a1b11ae1';
/** Readers of PDF look for its mark in so many bytes. */
const PDF_MARK_WITHIN = 1024;

export function fileKindOf(bytes: Buffer): FileKind {
  const image = imageTypeOf(bytes);
  if (image !== undefined) return { kind: 'image', type: image };
  if (bytes.subarray(0, PDF_MARK_WITHIN).includes('%PDF-')) return { kind: 'pdf' };
  if (bytes.toString('hex', 0, 8) === OLD_OFFICE) return { kind: 'old_office' };
  if (bytes.toString('latin1', 0, 4) === 'PK\x03\x04') return { kind: officeKindOf(bytes) };
  return { kind: 'other' };
}

function imageTypeOf(bytes: Buffer) {
  const start = bytes.toString('latin1', 0, 12);
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(start)) return 'image/gif';
  if (/^RIFF[^]{4}WEBP/.test(start)) return 'image/webp';
  return undefined;
}

/** The names of its entries are written as they are. */
function officeKindOf(bytes: Buffer): 'docx' | 'xlsx' | 'other' {
  if (!bytes.includes('[Content_Types].xml')) return 'other';
  if (bytes.includes('word/document.xml')) return 'docx';
  return bytes.includes('xl/workbook.xml') ? 'xlsx' : 'other';
}
