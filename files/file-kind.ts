// Detects the kind of a file from its bytes, regardless of its declared type (docs/use/files.md).
type DocumentKind = 'pdf' | 'docx' | 'xlsx';

export type FileKind =
  | { kind: 'image'; type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' }
  | { kind: 'audio'; format: 'wav' | 'mp3' }
  | { kind: DocumentKind }
  /** Office files with a password or in a format before 2007, and other files in the same container format. */
  | { kind: 'old_office' }
  /** Text, or an unknown format. */
  | { kind: 'other' };

const OLD_OFFICE = 'd0cf11e0a1b11ae1';
/** PDF readers search this many bytes for the PDF header. */
const PDF_MARK_WITHIN = 1024;

export function fileKindOf(bytes: Buffer): FileKind {
  const image = imageTypeOf(bytes);
  if (image !== undefined) return { kind: 'image', type: image };
  const audio = audioFormatOf(bytes);
  if (audio !== undefined) return { kind: 'audio', format: audio };
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

function audioFormatOf(bytes: Buffer): 'wav' | 'mp3' | undefined {
  const start = bytes.toString('latin1', 0, 12);
  if (/^RIFF[^]{4}WAVE/.test(start)) return 'wav';
  return start.startsWith('ID3') || isMpegFrame(bytes) ? 'mp3' : undefined;
}

/**
 * Returns true for the head of an MPEG audio frame of layer III with a bit rate and a sampling
 * rate (ISO/IEC 11172-3, 2.4.2.3).
 */
function isMpegFrame(bytes: Buffer): boolean {
  const [sync = 0, version = 0, rates = 0] = bytes;
  if (sync !== 0xff || (version & 0xe6) !== 0xe2 || (version & 0x18) === 0x08) return false;
  return rates >> 4 !== 0 && rates >> 4 !== 15 && (rates & 0x0c) !== 0x0c;
}

/** ZIP stores the names of its entries uncompressed, so a search in the bytes finds them. */
function officeKindOf(bytes: Buffer): 'docx' | 'xlsx' | 'other' {
  if (!bytes.includes('[Content_Types].xml')) return 'other';
  if (bytes.includes('word/document.xml')) return 'docx';
  return bytes.includes('xl/workbook.xml') ? 'xlsx' : 'other';
}
