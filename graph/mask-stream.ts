// Masks a text that comes in pieces. The pieces that are given out make together what masking the whole text makes,
// however it was cut: what may still become a part of a secret is held back.
import { decodingsOf, MAY_BE_ENCODED, originalOffset, type DecodedText } from './decoded-text.js';
import type { PatternSearch } from './pattern-search.js';

export interface MaskStream {
  /** Takes the next piece, and returns what is decided by now. */
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

interface StreamOptions {
  /** Finds the secrets in a decoded text. */
  search: PatternSearch;
  /** Masks the whole of a text. */
  maskAll: (text: string) => string;
  /** Replaces a secret. */
  mask: string;
  /** Whether everything behind a secret is hidden, too. */
  hidesRest: boolean;
}

/** A long piece is searched in parts, because decoding takes many times its memory. */
const PART_UNITS = 16_384;
/** A text that is held back is searched again at each piece up to this length. A longer one has to grow by an eighth first. */
const SEARCHED_AT_ONCE = 4_096;
/** A match in base64 extends to the unit before it (`Pattern.before`). */
const BEFORE = 1;

/** The time is linear in the text, and what is held back is at most about as long as the longest encoding of a secret. */
export function createMaskStream({ search, maskAll, mask, hidesRest }: StreamOptions): MaskStream {
  let held = '';
  let searchAt = 0;
  let isHiding = false;
  const take = (): string => {
    if (held.length < searchAt) return '';
    const { end, ranges } = decide(held, search);
    const first = ranges.find((range) => range[1] > end);
    let out = replaceRanges(held.slice(0, end), ranges, mask);
    if (hidesRest && first?.[0] === end) {
      isHiding = true;
      out += mask;
    }
    held = isHiding ? '' : held.slice(end);
    searchAt = held.length > SEARCHED_AT_ONCE ? held.length * (9 / 8) : 0;
    return out;
  };
  return {
    push(text) {
      let out = '';
      for (let from = 0; from < text.length; from += PART_UNITS) {
        if (isHiding) break;
        held += text.slice(from, from + PART_UNITS);
        out += take();
      }
      return out;
    },
    end() {
      const rest = maskAll(held);
      held = '';
      return rest;
    },
  };
}

export type Range = [start: number, end: number];

interface Decided {
  /** What comes next changes nothing of the text before this offset, and a text that begins here is masked by itself. */
  end: number;
  /** What is to be masked, in order and without overlaps. Of the ranges behind `end` more may become known. */
  ranges: Range[];
}

function decide(text: string, search: PatternSearch): Decided {
  const found: Range[] = [];
  const levels: DecodedText[] = [];
  // What begins here may become an escape, so that the decodings of it and of what follows are not known yet.
  let settled = text.length;
  let end = text.length;
  for (const decoded of MAY_BE_ENCODED.test(text) ? decodingsOf(text) : [{ text }]) {
    const known = decoded.text.slice(0, unitsUntil(decoded, settled));
    const openAt = openEscapeIn(known);
    if (openAt < known.length) settled = originalOffset(decoded, openAt);
    const units = unitsUntil(decoded, settled);
    const open = search(decoded.text.slice(0, units), (from, to) => {
      found.push([originalOffset(decoded, from), originalOffset(decoded, to)]);
    });
    end = Math.min(end, settled, originalOffset(decoded, Math.max(0, units - open - BEFORE)));
    levels.push(decoded);
  }
  const ranges = mergeRanges(found);
  for (let before = -1; before !== end;) {
    before = end;
    const cut = ranges.find((range) => range[0] < end && range[1] > end);
    if (cut !== undefined) [end] = cut;
    for (const level of levels) end = beginningOfUnit(level, end);
  }
  return { end, ranges };
}

/** An escape whose end has not come yet, at the end of a text. */
const OPEN_ESCAPE =
  /(?:\\(?:u[\da-fA-F]{0,3})?|&(?:#(?:\d{0,7}|[xX][\da-fA-F]{0,6})|[a-z]{0,4})|%(?:[\da-fA-F]{2}%){0,3}[\da-fA-F]{0,2})$/;
const LONGEST_ESCAPE = 12;

/** Where the open escape at the end of the text begins; the length of the text where there is none. */
function openEscapeIn(text: string): number {
  const from = Math.max(0, text.length - LONGEST_ESCAPE);
  const at = OPEN_ESCAPE.exec(text.slice(from))?.index;
  return at === undefined ? text.length : from + at;
}

/** How many units of the decoded text stand for what is before the offset of the original. */
function unitsUntil({ text, offsets }: DecodedText, offset: number): number {
  if (offsets === undefined) return offset;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (offsets[middle]! < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The offset where the unit begins that stands at this offset of the original, or before it. */
function beginningOfUnit(decoded: DecodedText, offset: number): number {
  if (decoded.offsets === undefined || offset === 0) return offset;
  const units = unitsUntil(decoded, offset + 1);
  return units === 0 ? 0 : decoded.offsets[units - 1]!;
}

/** Sorts ranges, and joins those that overlap. */
export function mergeRanges(ranges: Range[]): Range[] {
  ranges.sort((left, right) => left[0] - right[0]);
  const merged: Range[] = [];
  for (const [start, end] of ranges) {
    const last = merged.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

/** Puts `mask` in the place of the ranges that end within the text. */
export function replaceRanges(text: string, ranges: readonly Range[], mask: string): string {
  const parts: string[] = [];
  let cursor = 0;
  for (const [start, end] of ranges) {
    if (end > text.length) break;
    parts.push(text.slice(cursor, start), mask);
    cursor = end;
  }
  return cursor === 0 ? text : parts.join('') + text.slice(cursor);
}
