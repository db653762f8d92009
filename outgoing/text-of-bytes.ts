// Decodes the bytes of answers and files as text. Labels of encodings have the meaning of the WHATWG encoding standard
// (`latin1` is windows-1252), which the decoder of Node.js 20 does not follow.
import { getBOMEncoding, TextDecoder } from '@exodus/bytes/encoding.js';
import sniffHtml from 'html-encoding-sniffer';

export interface TextOfBytes {
  text: string;
  /** The encoding of the bytes. Undefined if none was found; the text is then what UTF-8 makes of them. */
  encoding: string | undefined;
  /** False if U+FFFD replaces undecodable bytes. */
  isExact: boolean;
}

/**
 * Decodes with the first of these that names a known encoding: the byte order mark, the charset of the media type, the
 * declaration in the first 1,024 bytes of HTML and XML. If none does, valid UTF-8 without null characters is decoded as
 * UTF-8, and for other bytes a detector chooses the encoding. If it finds none, the bytes are decoded as UTF-8.
 */
export async function textOfBytes(bytes: Uint8Array, type: string | undefined): Promise<TextOfBytes> {
  const declared = declaredEncoding(bytes, type);
  if (declared !== undefined) return decodeIn(declared, bytes);
  const text = exactText('utf-8', bytes);
  const detected = text === undefined || text.includes('\0') ? await detectText(bytes, text !== undefined) : undefined;
  if (detected !== undefined) return detected;
  if (text !== undefined) return { text, encoding: 'utf-8', isExact: true };
  return { text: new TextDecoder().decode(bytes), encoding: undefined, isExact: false };
}

const TEXT_TYPE =
  /^(?:text\/.+|application\/(?:json|xml|javascript|ecmascript|x-javascript|x-ndjson|x-www-form-urlencoded)|application\/.+\+(?:json|xml))$/;

/** Returns true for `text/*`, JSON, XML, JavaScript and URL-encoded forms. */
export function isTextType(type: string): boolean {
  const [name = ''] = type.toLowerCase().split(';');
  return TEXT_TYPE.test(name.trim());
}

/** At most this many bytes of an incomplete character are left at the end of a body that was cut. */
const LONGEST_CUT = 3;

/** Returns true if a body without a type is text. `isWhole` is false if the bytes are only its start. */
export async function isText(bytes: Uint8Array, isWhole: boolean): Promise<boolean> {
  for (let cut = 0; cut <= (isWhole ? 0 : LONGEST_CUT); cut += 1) {
    const { text, isExact } = await textOfBytes(bytes.subarray(0, bytes.length - cut), undefined);
    if (isExact) return !text.includes('\0');
  }
  return false;
}

/** Returns the encoding that the bytes, their media type, or HTML and XML themselves declare. */
export function declaredEncoding(bytes: Uint8Array, type: string | undefined): string | undefined {
  return getBOMEncoding(bytes) ?? knownEncoding(charsetOf(type)) ?? declarationIn(bytes, type);
}

const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;,"']+))/i;

function charsetOf(type: string | undefined): string | undefined {
  const [, quoted, single, token] = CHARSET.exec(type ?? '') ?? [];
  return quoted ?? single ?? token;
}

/** Returns the name of the encoding with this label, if there is a decoder for it. */
export function knownEncoding(label: string | undefined): string | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const DECLARED_WITHIN = 1_024;
const XML_DECLARATION = /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,64})["']/;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)$/;
/** Types that do not describe the bytes. */
const UNSPECIFIC_TYPE = /^(?:|application\/octet-stream)$/;
const HTML_START = /^\s*<(?:!doctype\s+html|html|head|meta|title|body)\b/i;

function declarationIn(bytes: Uint8Array, type = ''): string | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, DECLARED_WITHIN));
  const [, label] = XML_DECLARATION.exec(start) ?? [];
  // A declaration that can be read byte by byte is not in UTF-16, whatever it declares.
  if (label !== undefined) return knownEncoding(label)?.replace(/^utf-16[bl]e$/, 'utf-8');
  const [essence = ''] = type.toLowerCase().split(';');
  const isHtml = HTML_TYPE.test(essence.trim()) || (UNSPECIFIC_TYPE.test(essence.trim()) && HTML_START.test(start));
  return isHtml ? knownEncoding(sniffHtml(bytes, { defaultEncoding: 'unknown' })) : undefined;
}

function decodeIn(encoding: string, bytes: Uint8Array): TextOfBytes {
  const text = exactText(encoding, bytes);
  return { text: text ?? new TextDecoder(encoding).decode(bytes), encoding, isExact: text !== undefined };
}

/** Returns undefined if any byte cannot be decoded. */
function exactText(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The encodings that the detector may find, and their labels. */
const DETECTED: Readonly<Record<string, string>> = {
  big5hkscs: 'big5',
  cp1250: 'windows-1250',
  cp1251: 'windows-1251',
  cp1252: 'windows-1252',
  cp1253: 'windows-1253',
  cp1254: 'windows-1254',
  cp1255: 'windows-1255',
  cp1256: 'windows-1256',
  cp1257: 'windows-1257',
  cp1258: 'windows-1258',
  cp866: 'ibm866',
  cp874: 'windows-874',
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  euc_jis_2004: 'euc-jp',
  gb18030: 'gb18030',
  iso2022_jp_2: 'iso-2022-jp',
  'iso8859-2': 'iso-8859-2',
  'iso8859-5': 'iso-8859-5',
  'koi8-r': 'koi8-r',
  'koi8-u': 'koi8-u',
  'utf-16-be': 'utf-16be',
  'utf-16-le': 'utf-16le',
};
const MOST_COMMON = 'cp1252';
/** The most common encoding is tried first unless another one is more likely by more than this factor. */
const LIKELIER_FACTOR = 3;
const MOST_TRIED = 5;
/** Control characters that do not occur in text. */
// eslint-disable-next-line no-control-regex -- the pattern searches for these characters
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x9f]/;

/** `isUtf8` is true if the bytes are valid UTF-8 with null characters, as ASCII text in UTF-16 is. */
async function detectText(bytes: Uint8Array, isUtf8: boolean): Promise<TextOfBytes | undefined> {
  // Loaded only here, because the detector unpacks tables of many megabytes and most bytes are UTF-8.
  const { chardet } = await import('jschardet');
  const names = Object.keys(DETECTED).filter((name) => !isUtf8 || name.startsWith('utf-16'));
  const found = chardet.detectAll(bytes, {
    includeEncodings: names,
    encodingEra: chardet.EncodingEra.ALL,
    compatNames: false,
    ignoreThreshold: true,
  });
  const common = found.find(({ encoding }) => encoding === MOST_COMMON);
  const isCommon = common !== undefined && LIKELIER_FACTOR * common.confidence >= found[0]!.confidence;
  for (const { encoding: name } of [...(isCommon ? [common] : []), ...found].slice(0, MOST_TRIED)) {
    const encoding = name === null ? undefined : DETECTED[name];
    const text = encoding === undefined ? undefined : exactText(encoding, bytes);
    if (text !== undefined && !CONTROLS.test(text)) return { text, encoding, isExact: true };
  }
  return undefined;
}
