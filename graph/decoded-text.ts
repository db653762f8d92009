// A secret may stand in a text as it is, inside JSON strings, inside URLs, and inside both. Instead of guessing how
// each encoder would have written it, the text is decoded step by step and searched after each step.

/** A text, and where in the original each of its code units comes from. */
export interface DecodedText {
  text: string;
  /** One offset a unit and the original's length at the end; undefined for the original itself. */
  offsets?: Uint32Array;
}

/** What stands at an escape: its text and how many units of the source it takes. */
interface Escape {
  text: string;
  size: number;
}

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

/** The text itself and every decoding of it that differs: JSON inside JSON, in a URL, and with JSON inside that. */
export function decodingsOf(text: string): DecodedText[] {
  const found: DecodedText[] = [{ text }];
  for (const step of [decodeJson, decodeJson, decodePercent, decodeJson, decodePercent]) {
    const last = found.at(-1) ?? { text };
    const next = step(last);
    if (next !== last) found.push(next);
  }
  return found;
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

function decodePercent(source: DecodedText): DecodedText {
  return decode(source, '%', readPercent);
}

/** One character of UTF-8 bytes written as `%XX`. */
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

/** Replaces every escape that `read` knows; gives the source itself where there is none. */
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
