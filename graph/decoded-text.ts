// Decodings of a text that may contain a secret as it is, inside JSON strings, inside URLs, or both. Encoders differ,
// so the text is decoded step by step and searched after each step.

/** A decoded text, with the offset of each of its code units in the original. */
export interface DecodedText {
  text: string;
  /** An offset for each code unit, followed by the original's length. Undefined for the original itself. */
  offsets?: Uint32Array;
}

/** A decoded escape: its text, and its length in code units of the source. */
interface Escape {
  text: string;
  size: number;
}

/** A text without these characters has no decoding but itself. */
export const MAY_BE_ENCODED = /[\\\n\r&%]/;

type ReadEscape = (source: string, at: number) => Escape | undefined;

const JSON_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** In this order: JSON inside JSON, line breaks, HTML, and twice a URL with JSON inside it. */
const STEPS = [decodeJson, decodeJson, unwrap, decodeHtml, decodePercent, decodeJson, decodePercent, decodeJson];

/**
 * Yields the text itself, and every decoding that differs from the previous one. Each takes five times the text's
 * memory, so a caller should not hold those of a long text all at once.
 */
export function* decodingsOf(text: string): Generator<DecodedText> {
  let last: DecodedText = { text };
  yield last;
  for (const step of STEPS) {
    const next = step(last);
    if (next !== last) yield next;
    last = next;
  }
}

export function originalOffset(decoded: DecodedText, at: number): number {
  return decoded.offsets ? (decoded.offsets[at] ?? 0) : at;
}

function decodeJson(source: DecodedText): DecodedText {
  return decode(source, '\\', (text, at) => {
    const letter = text[at + 1] ?? '';
    if (letter === 'u') {
      const unit = hexAt(text, at + 2, 4);
      return unit === undefined ? undefined : { text: String.fromCharCode(unit), size: 6 };
    }
    const plain = Object.hasOwn(JSON_ESCAPES, letter) ? JSON_ESCAPES[letter] : undefined;
    return plain === undefined ? undefined : { text: plain, size: 2 };
  });
}

/**
 * Removes line breaks: base64 is often wrapped at 64 or 76 characters, and a secret's line breaks may be CR, LF or
 * both.
 */
function unwrap(source: DecodedText): DecodedText {
  const joined = decode(source, '\n', () => ({ text: '', size: 1 }));
  return decode(joined, '\r', () => ({ text: '', size: 1 }));
}

const HTML_ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MAX_ENTITY_UNITS = 10;

function decodeHtml(source: DecodedText): DecodedText {
  return decode(source, '&', (text, at) => {
    const name = /^&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-z]{2,4});/.exec(text.slice(at, at + MAX_ENTITY_UNITS))?.[1];
    if (name === undefined) return undefined;
    const size = name.length + 2;
    if (!name.startsWith('#')) {
      const plain = Object.hasOwn(HTML_ENTITIES, name) ? HTML_ENTITIES[name] : undefined;
      return plain === undefined ? undefined : { text: plain, size };
    }
    const isHex = /^#x/i.test(name);
    const point = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    return point > 0x10ffff ? undefined : { text: String.fromCodePoint(point), size };
  });
}

function decodePercent(source: DecodedText): DecodedText {
  return decode(source, '%', readPercent);
}

/** Reads one character whose UTF-8 bytes are written as `%XX`. */
function readPercent(source: string, at: number): Escape | undefined {
  const first = hexAt(source, at + 1, 2);
  if (first === undefined) return undefined;
  if (first < 0x80) return { text: String.fromCharCode(first), size: 3 };
  const size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  let point = first & (0xff >> (size + 1));
  for (let byte = 1; byte < size; byte += 1) {
    const next = source[at + 3 * byte] === '%' ? hexAt(source, at + 3 * byte + 1, 2) : undefined;
    if (next === undefined || (next & 0xc0) !== 0x80) return undefined;
    point = (point << 6) | (next & 0x3f);
  }
  if (first < 0xc0 || point > 0x10ffff) return undefined;
  return { text: String.fromCodePoint(point), size: 3 * size };
}

function hexAt(text: string, at: number, digits: number): number | undefined {
  const hex = text.slice(at, at + digits);
  return hex.length === digits && /^[0-9a-fA-F]+$/.test(hex) ? Number.parseInt(hex, 16) : undefined;
}

/** Replaces every escape that `read` decodes. Returns the source itself if there is none. */
function decode(source: DecodedText, marker: string, read: ReadEscape): DecodedText {
  const { text } = source;
  const parts: string[] = [];
  let offsets: Uint32Array | undefined;
  let size = 0;
  let cursor = 0;
  const copyUntil = (end: number, into: Uint32Array): void => {
    parts.push(text.slice(cursor, end));
    for (; cursor < end; cursor += 1) into[size++] = originalOffset(source, cursor);
  };
  let at = text.indexOf(marker);
  while (at >= 0) {
    const escape = read(text, at);
    if (escape) {
      offsets ??= new Uint32Array(text.length + 1);
      copyUntil(at, offsets);
      parts.push(escape.text);
      offsets.fill(originalOffset(source, at), size, size + escape.text.length);
      size += escape.text.length;
      cursor = at + escape.size;
    }
    at = text.indexOf(marker, escape ? cursor : at + 1);
  }
  if (!offsets) return source;
  copyUntil(text.length, offsets);
  offsets[size] = originalOffset(source, text.length);
  return { text: parts.join(''), offsets: offsets.subarray(0, size + 1) };
}
