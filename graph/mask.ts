// Secrets in what nodes produce: decisions, section 9.
import { decodingsOf, originalOffset } from './decoded-text.js';
import { ExactNumber } from './exact-number.js';
import { mapLeaves } from './json.js';
import { createPatternSearch, type Pattern, type PatternSearch } from './pattern-search.js';
import { MASK } from './secrets.js';

export interface Masker {
  /** True when there is nothing to look for: every text stays as it is. */
  readonly isEmpty: boolean;
  readonly text: (text: string) => string;
  /** A copy with every string, number and object key masked. */
  readonly json: <T>(value: T) => T;
}

// Shorter values turn up by chance all over a text; they are only masked in their own fields.
const MIN_SECRET_CHARACTERS = 6;
// The search keeps each character of a secret some ten times over. Twice what a run may hold (`input.ts`) is searched for
// whole: a second, at most. Beyond that stand drafts, published literals and attacks.
const MAX_SEARCHED_CHARACTERS = 131_072;
const MAX_SECRETS = 8192;

/**
 * Beyond so many characters of secrets in all, those encodings are not looked for that only short ones are found in:
 * each is a pattern of its own, and memory grows with the patterns.
 */
const MAX_CHARACTERS_IN_EVERY_ENCODING = 16_384;

/**
 * Replaces secrets by `********` wherever they stand: plain, JSON-escaped (also twice), URL-encoded in any way, with HTML
 * entities, over several lines, in hexadecimal, and in base64 or base64url, also in the middle of a larger base64 text
 * and of the URL-encoded secret. Linear in the text; memory grows with the secrets. Of secrets that are too long to be
 * searched for only the beginning is, and all that follows it in the same text is hidden; where there are too many, every
 * text is. docs/operate/security.md says what is not found.
 */
export function createMasker(secretValues: readonly string[]): Masker {
  const secrets = new Set(secretValues.flatMap((value) => [value, value.trim()]).filter(isLongEnough));
  secrets.delete(MASK);
  if (secrets.size === 0) return { isEmpty: true, text: (text) => text, json: (value) => value };
  const text = secrets.size > MAX_SECRETS ? hideText : createTextMasker([...secrets]);
  const maskLeaf = (leaf: unknown): unknown => {
    if (typeof leaf === 'string') return text(leaf);
    const isNumber = typeof leaf === 'number' || leaf instanceof ExactNumber;
    return isNumber && text(String(leaf)) !== String(leaf) ? MASK : leaf;
  };
  return { isEmpty: false, text, json: <T>(value: T) => mapLeaves(value, maskLeaf, text) as T };
}

function hideText(text: string): string {
  return text === '' ? '' : MASK;
}

function createTextMasker(secrets: string[]): (text: string) => string {
  const total = secrets.reduce((sum, secret) => sum + secret.length, 0);
  const limit = total <= MAX_SEARCHED_CHARACTERS ? Infinity : Math.floor(MAX_SEARCHED_CHARACTERS / secrets.length);
  const inEveryEncoding = total <= MAX_CHARACTERS_IN_EVERY_ENCODING;
  const search = createPatternSearch(secrets.flatMap((secret) => patternsUpTo(limit, secret, inEveryEncoding)));
  return (text) => maskText(text, search);
}

function patternsUpTo(limit: number, secret: string, inEveryEncoding: boolean): Pattern[] {
  if (secret.length <= limit) return patternsOf(secret, inEveryEncoding);
  // Half a character would be encoded as another one.
  const beginning = secret.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');
  return patternsOf(beginning, inEveryEncoding).map((pattern) => ({ ...pattern, after: Infinity }));
}

function isLongEnough(value: string): boolean {
  return value.length >= 2 * MIN_SECRET_CHARACTERS || Array.from(value).length >= MIN_SECRET_CHARACTERS;
}

function patternsOf(secret: string, inEveryEncoding: boolean): Pattern[] {
  // Form encoding writes a space as a plus, which no decoding of the text can tell from a plus. One of the decodings has
  // no line breaks.
  const plain = new Set([secret, secret.replaceAll(' ', '+'), secret.replace(/[\r\n]+/g, '')].filter(isLongEnough));
  // Base64 of the secret itself, and of the secret as JSON writes it, or a URL, or a form.
  const encodable = new Set([secret, JSON.stringify(secret).slice(1, -1)]);
  if (inEveryEncoding) {
    for (const encoded of urlEncodingsOf(secret)) encodable.add(encoded);
    for (const hex of [...encodable].flatMap(hexOf)) plain.add(hex);
  }
  return [
    ...[...plain].map((text) => ({ text, before: 0, after: 0 })),
    ...[...encodable].flatMap((text) => [0, 1, 2].flatMap((shift) => base64PatternsOf(Buffer.from(text), shift))),
  ];
}

/** As `encodeURIComponent` writes it, and as forms do. */
function urlEncodingsOf(secret: string): string[] {
  const wellFormed = Buffer.from(secret).toString(); // half a character cannot be in a URL
  return [encodeURIComponent(wellFormed), new URLSearchParams({ '': wellFormed }).toString().slice(1)];
}

function hexOf(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** The base64 characters that only the secret decides when `shift` bytes (modulo 3) stand before it. */
function base64PatternsOf(bytes: Buffer, shift: number): Pattern[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const bits = (shift + bytes.length) * 8;
  const text = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(bits / 6));
  // The characters that it shares with its neighbours hold bits of it too.
  const pattern = { text, before: shift === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_');
  return urlSafe === text ? [pattern] : [pattern, { ...pattern, text: urlSafe }];
}

type Range = [start: number, end: number];

function maskText(text: string, search: PatternSearch): string {
  const ranges: Range[] = [];
  for (const decoded of decodingsOf(text)) {
    search(decoded.text, (start, end) => {
      addRange(ranges, originalOffset(decoded, start), originalOffset(decoded, end));
    });
  }
  if (ranges.length === 0) return text;
  const parts: string[] = [];
  let cursor = 0;
  for (const [start, end] of mergeRanges(ranges)) {
    parts.push(text.slice(cursor, start), MASK);
    cursor = end;
  }
  return parts.join('') + text.slice(cursor);
}

/** Within one search the ends only grow, so an overlap is always with the last ones: `aaaa...` stays one range. */
function addRange(ranges: Range[], start: number, end: number): void {
  const before = ranges.at(-1);
  if (before && before[0] <= start && before[1] >= end) return;
  let from = start;
  for (let last = ranges.at(-1); last && last[1] > from && last[1] <= end; last = ranges.at(-1)) {
    from = Math.min(from, last[0]);
    ranges.pop();
  }
  ranges.push([from, end]);
}

function mergeRanges(ranges: Range[]): Range[] {
  ranges.sort((left, right) => left[0] - right[0]);
  const merged: Range[] = [];
  for (const [start, end] of ranges) {
    const last = merged.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}
