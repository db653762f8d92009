// Extracts the text of PDF, DOCX and XLSX files. The parsers are loaded on first use.
import { createRequire } from 'node:module';
import path from 'node:path';
import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { declaredEncoding, textOfBytes } from '../outgoing/text-of-bytes.js';

export type DocumentFormat = 'pdf' | 'docx' | 'xlsx';

/** The limit on the expanded size of the parts of an archive that are read. */
const MAX_EXPANDED_BYTES = 64 * 1024 * 1024;
const MAX_ENTRIES = 10_000;
const MAX_TEXT_CHARACTERS = 16 * 1024 * 1024;

/**
 * Thrown for a document whose text cannot be read. The message completes a sentence that users see: `The document "x"`
 * + `is encrypted`.
 */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly code: 'invalid_document' | 'file_too_large';

  constructor(code: DocumentError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Throws `DocumentError`, or the error of the parser for a broken document. */
export async function readDocument(format: DocumentFormat, bytes: Uint8Array): Promise<string> {
  if (format === 'pdf') return readPdf(bytes);
  const archive = await unpacked(bytes);
  return format === 'docx' ? readDocx(archive) : readXlsx(archive);
}

function createText() {
  const parts: string[] = [];
  let characters = 0;
  return {
    add(part: string): void {
      characters += part.length;
      if (characters > MAX_TEXT_CHARACTERS) throw tooLarge(`has more than ${MAX_TEXT_CHARACTERS} characters`);
      parts.push(part);
    },
    join: () => parts.join('').trim(),
  };
}

async function readPdf(bytes: Uint8Array): Promise<string> {
  const { getDocument, VerbosityLevel } = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const folder = path.dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const loading = getDocument({
    data: new Uint8Array(bytes),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    verbosity: VerbosityLevel.ERRORS,
    // Texts in Chinese, Japanese and Korean need these tables.
    cMapUrl: `${path.join(folder, 'cmaps')}/`,
    standardFontDataUrl: `${path.join(folder, 'standard_fonts')}/`,
  });
  const document = await loading.promise.catch((error: unknown) => {
    throw error instanceof Error && error.name === 'PasswordException' ? encrypted() : error;
  });
  const text = createText();
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    for (const item of items) {
      if ('str' in item) text.add(item.hasEOL ? `${item.str}\n` : item.str);
    }
    text.add('\n\n');
    page.cleanup();
  }
  return text.join();
}

async function readDocx(archive: Uint8Array): Promise<string> {
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({ buffer: Buffer.from(archive) });
  const text = createText();
  text.add(value);
  return text.join();
}

/** Returns the name of each sheet, followed by its rows as CSV. */
async function readXlsx(archive: Uint8Array): Promise<string> {
  const { read, utils } = await import('@e965/xlsx');
  // `nodim` ignores the declared size of a sheet, which may be a million empty rows.
  const book = read(archive, { type: 'array', dense: true, nodim: true, cellFormula: false, cellHTML: false });
  const text = createText();
  for (const name of book.SheetNames) {
    const rows = utils.sheet_to_csv(book.Sheets[name]!, { blankrows: false });
    text.add(`${name}\n${rows}\n\n`);
  }
  return text.join();
}

/**
 * Returns an uncompressed archive with the XML parts only, because the parsers expand everything without a limit.
 * `unzipSync` never inflates a deflated entry beyond its declared size. A stored entry has its compressed size,
 * whatever it declares.
 */
async function unpacked(bytes: Uint8Array): Promise<Uint8Array> {
  let entries = 0;
  let expanded = 0;
  const found = unzipSync(bytes, {
    filter({ name, size, originalSize }) {
      entries += 1;
      if (entries > MAX_ENTRIES) throw tooLarge(`has more than ${MAX_ENTRIES} parts`);
      if (!/\.(?:xml|rels)$/i.test(name)) return false;
      expanded += Math.max(size, originalSize);
      if (expanded > MAX_EXPANDED_BYTES) throw tooLarge(`expands to more than ${MAX_EXPANDED_BYTES} bytes`);
      return true;
    },
  });
  for (const [name, part] of Object.entries(found)) found[name] = await inUtf8(part);
  const types = found['[Content_Types].xml'];
  if (types === undefined || !strFromU8(types).includes('<')) throw new DocumentError('invalid_document', 'is broken');
  return zipSync(found, { level: 0 });
}

/** Converts the part to UTF-8, because the parsers read every part as UTF-8 but the formats also allow UTF-16. */
async function inUtf8<Part extends Uint8Array>(part: Part): Promise<Part | Uint8Array<ArrayBuffer>> {
  const encoding = declaredEncoding(part, 'application/xml') ?? 'utf-8';
  if (encoding === 'utf-8') return part;
  const { text } = await textOfBytes(part, 'application/xml');
  return strToU8(text.replace(/^(<\?xml\s[^>]*?)\s+encoding\s*=\s*["'][^"']*["']/, '$1'));
}

function encrypted(): DocumentError {
  return new DocumentError('invalid_document', 'is encrypted');
}

function tooLarge(what: string): DocumentError {
  return new DocumentError('file_too_large', what);
}
