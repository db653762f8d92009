// Masks secrets in texts and JSON values, such as the results of nodes (docs/operate/security.md).
import { decodingsOf, MAY_BE_ENCODED, originalOffset } from './decoded-text.js';
import { ExactNumber } from './exact-number.js';
import { mapLeaves } from './json.js';
import { createMaskStream, mergeRanges, replaceRanges, type MaskStream, type Range } from './mask-stream.js';
import { createPatternSearch, type Pattern, type PatternSearch } from './pattern-search.js';
import { MASK } from './mask-text.js';
import { cutText } from './cut-text.js';

export interface Masker {
  /** True if there are no secrets to search for, so every text stays as it is. */
  readonly isEmpty: boolean;
  readonly text: (text: string) => string;
  /** Returns the value with every string, number and object key masked. */
  readonly json: <T>(value: T) => T;
  /** Masks a text that arrives in chunks. */
  readonly stream: () => MaskStream;
}

// Shorter values occur in texts by chance, so they are masked only in their own fields.
const MIN_SECRET_CHARACTERS = 6;
// The search stores each character of a secret about ten times in memory. Up to this limit, secrets are searched for in
// full within a second. A run is refused if the secrets of its input, or those of its drawing, have more than half as
// many characters (`input.ts`). The limit can be exceeded by refused runs, by drawings that were only stored, and by
// runs whose input, drawing and passed secrets have more characters together.
const MAX_SEARCHED_CHARACTERS = 131_072;
const MAX_SECRETS = 8192;

/**
 * Above this number of characters in all secrets, hexadecimal, the base64 of URL-encoded secrets, and encoded secrets in
 * undecoded text are not searched for, because memory grows with the patterns.
 */
const MAX_CHARACTERS_IN_EVERY_ENCODING = 16_384;

/**
 * Replaces secrets of at least 6 characters by `********` wherever they occur: plain, JSON-escaped (also twice),
 * URL-encoded in any way, with HTML entities, over several lines, in hexadecimal, and in base64 or base64url. The
 * base64 may be part of a longer base64 text, and it may contain the URL-encoded secret. Time is linear in the text,
 * and memory grows with the secrets.
 *
 * If the secrets are too long together, only a prefix of each long one is searched for, and everything after the
 * prefix in the same text is hidden. If there are too many secrets, every text is hidden. docs/operate/security.md
 * lists the encodings that are not found.
 */
export function createMasker(secretValues: readonly string[]): Masker {
  const secrets = new Set(secretValues.flatMap((value) => [value, value.trim()]).filter(isLongEnough));
  secrets.delete(MASK);
  if (secrets.size === 0) {
    return { isEmpty: true, text: (text) => text, json: (value) => value, stream: () => UNMASKED };
  }
  const { text, stream } = secrets.size > MAX_SECRETS ? HIDING : createTextMasker([...secrets]);
  const maskLeaf = (leaf: unknown): unknown => {
    if (typeof leaf === 'string') return text(leaf);
    const isNumber = typeof leaf === 'number' || leaf instanceof ExactNumber;
    return isNumber && text(String(leaf)) !== String(leaf) ? MASK : leaf;
  };
  return { isEmpty: false, text, json: <T>(value: T) => mapLeaves(value, maskLeaf, text) as T, stream };
}

/** Masks with `one`, then masks the result with `other`. */
export function joinMaskers(one: Masker, other: Masker): Masker {
  if (one.isEmpty) return other;
  if (other.isEmpty) return one;
  return {
    isEmpty: false,
    text: (text) => other.text(one.text(text)),
    json: (value) => other.json(one.json(value)),
    stream() {
      const [first, second] = [one.stream(), other.stream()];
      return {
        push: (text) => second.push(first.push(text)),
        end: () => second.push(first.end()) + second.end(),
      };
    },
  };
}

type TextMasker = Pick<Masker, 'text' | 'stream'>;

const UNMASKED: MaskStream = { push: (text) => text, end: () => '' };

const HIDING: TextMasker = {
  text: hideText,
  stream() {
    let isHidden = false;
    const push = (text: string): string => {
      const shown = isHidden ? '' : hideText(text);
      isHidden ||= shown !== '';
      return shown;
    };
    return { push, end: () => '' };
  },
};

function hideText(text: string): string {
  return text === '' ? '' : MASK;
}

function createTextMasker(secrets: string[]): TextMasker {
  const total = secrets.reduce((sum, secret) => sum + secret.length, 0);
  const limit = total <= MAX_SEARCHED_CHARACTERS ? Infinity : Math.floor(MAX_SEARCHED_CHARACTERS / secrets.length);
  const inEveryEncoding = total <= MAX_CHARACTERS_IN_EVERY_ENCODING;
  const patterns = secrets.flatMap((secret) => patternsUpTo(limit, secret, inEveryEncoding));
  const search = createPatternSearch(patterns);
  // Skip texts shorter than every pattern: lists of a million numbers are common, and decoding never makes a text
  // longer.
  const shortest = patterns.reduce((least, { text }) => Math.min(least, text.length), Infinity);
  const maskAll = (text: string): string => (text.length < shortest ? text : maskText(text, search));
  const streaming = { search, maskAll, mask: MASK };
  return { text: maskAll, stream: () => createMaskStream(streaming) };
}

function patternsUpTo(limit: number, secret: string, inEveryEncoding: boolean): Pattern[] {
  if (secret.length <= limit) return patternsOf(secret, inEveryEncoding);
  // The cut must not split a surrogate pair, because half a character would be encoded differently.
  const beginning = cutText(secret, limit);
  return patternsOf(beginning, inEveryEncoding).map((pattern) => ({ ...pattern, after: Infinity }));
}

function isLongEnough(value: string): boolean {
  return value.length >= 2 * MIN_SECRET_CHARACTERS || Array.from(value).length >= MIN_SECRET_CHARACTERS;
}

function patternsOf(secret: string, inEveryEncoding: boolean): Pattern[] {
  // Decoding does not change the plus that forms write for a space, and one of its steps removes line breaks.
  const plain = new Set([secret, secret.replaceAll(' ', '+'), secret.replace(/[\r\n]+/g, '')].filter(isLongEnough));
  // Base64 may contain the secret itself, or the secret encoded for JSON, a URL or a form.
  const encodable = new Set([secret, escapeForJson(secret)]);
  if (inEveryEncoding) {
    for (const encoded of urlEncodingsOf(secret)) encodable.add(encoded);
    // These are searched for undecoded, because a character before an encoded secret may change how its beginning is
    // decoded: `\` before `r\"x`, or `%` before `41%20`.
    for (const encoded of [...encodable, ...[...encodable].map(escapeForJson)]) plain.add(encoded);
    for (const hex of [...encodable].flatMap(hexOf)) plain.add(hex);
  }
  return [
    ...[...plain].map((text) => ({ text, before: 0, after: 0 })),
    ...[...encodable].flatMap((text) => [0, 1, 2].flatMap((shift) => base64PatternsOf(Buffer.from(text), shift))),
  ];
}

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns the secret as encoded by `encodeURIComponent` and by forms. */
function urlEncodingsOf(secret: string): string[] {
  const wellFormed = Buffer.from(secret).toString(); // half a character cannot be in a URL
  return [encodeURIComponent(wellFormed), new URLSearchParams({ '': wellFormed }).toString().slice(1)];
}

function hexOf(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  return [hex, hex.toUpperCase()];
}

/** Returns the base64 characters that depend only on the secret when `shift` bytes (modulo 3) precede it. */
function base64PatternsOf(bytes: Buffer, shift: number): Pattern[] {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const bits = (shift + bytes.length) * 8;
  const text = encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(bits / 6));
  // The adjacent characters also hold some bits of the secret.
  const pattern = { text, before: shift === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
  const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_');
  return urlSafe === text ? [pattern] : [pattern, { ...pattern, text: urlSafe }];
}

function maskText(text: string, search: PatternSearch): string {
  const ranges: Range[] = [];
  for (const decoded of MAY_BE_ENCODED.test(text) ? decodingsOf(text) : [{ text }]) {
    search(decoded.text, (start, end) => {
      addRange(ranges, originalOffset(decoded, start), originalOffset(decoded, end));
    });
  }
  return ranges.length === 0 ? text : replaceRanges(text, mergeRanges(ranges), MASK);
}

/** Adds a range, joined with those that it overlaps: the last ones, because within one search the ends only grow. */
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
