// Masks a text that arrives in chunks. The output is the same as for the whole text, wherever the chunks are cut: a
// part that may still become a secret is held back.
import { decodingsOf, MAY_BE_ENCODED, originalOffset, type DecodedText } from './decoded-text.js';
import type { PatternSearch } from './pattern-search.js';

export interface MaskStream {
  /** Adds the next chunk, and returns the masked text that is decided now and was not returned before. */
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

interface StreamOptions {
  search: PatternSearch;
  maskAll: (text: string) => string;
  mask: string;
}

/** A long chunk is searched in parts, because decoding takes many times its memory. */
const PART_UNITS = 16_384;
/**
 * Held-back text up to this length is searched again with each chunk. A longer one must grow by an eighth first, which
 * keeps the time linear.
 */
const SEARCHED_AT_ONCE = 4_096;
/** A match in base64 extends to the unit before it (`Pattern.before`). */
const BEFORE = 1;

/**
 * Takes linear time. Line breaks aside, the held-back text is at most about as long as the longest encoding of a
 * secret.
 */
export function createMaskStream({ search, maskAll, mask }: StreamOptions): MaskStream {
  let held = '';
  let searchAt = 0;
  let isHiding = false;
  const take = (): string => {
    if (held.length < searchAt) return '';
    const { end, ranges, endlessFrom } = decide(held, search);
    const first = ranges.find((range) => range[1] > end);
    let out = replaceRanges(held.slice(0, end), ranges, mask);
    // An ordinary range may also start at `end`: then the next chunk decides where it ends.
    if (first?.[0] === end && first[1] > endlessFrom) {
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
  /** The next chunks change nothing before this offset, and a text that starts here can be masked by itself. */
  end: number;
  /** The ranges to mask, in order and without overlaps. After `end` more may be found later. */
  ranges: Range[];
  /** Where the first match starts that hides everything after it (`createMasker`). Infinity if there is none. */
  endlessFrom: number;
}

function decide(text: string, search: PatternSearch): Decided {
  const found: Range[] = [];
  const levels: DecodedText[] = [];
  // The offset at which an open escape starts, if there is one: how the text decodes from there on isn't known yet.
  let settled = text.length;
  let end = text.length;
  let endlessFrom = Infinity;
  for (const decoded of MAY_BE_ENCODED.test(text) ? decodingsOf(text) : [{ text }]) {
    const known = decoded.text.slice(0, unitsUntil(decoded, settled));
    const openAt = openEscapeIn(known);
    if (openAt < known.length) settled = originalOffset(decoded, openAt);
    const units = unitsUntil(decoded, settled);
    const open = search(decoded.text.slice(0, units), (from, to, isEndless) => {
      const start = originalOffset(decoded, from);
      found.push([start, originalOffset(decoded, to)]);
      if (isEndless) endlessFrom = Math.min(endlessFrom, start);
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
  return { end, ranges, endlessFrom };
}

/** An escape at the end of a text that may be incomplete. */
const OPEN_ESCAPE =
  /(?:\\(?:u[\da-fA-F]{0,3})?|&(?:#(?:\d{0,7}|[xX][\da-fA-F]{0,6})|[a-z]{0,4})|%(?:[\da-fA-F]{2}%){0,3}[\da-fA-F]{0,2})$/;
const LONGEST_ESCAPE = 12;

/** Returns the start of the open escape at the end of the text, or the text's length if there is none. */
function openEscapeIn(text: string): number {
  const from = Math.max(0, text.length - LONGEST_ESCAPE);
  const at = OPEN_ESCAPE.exec(text.slice(from))?.index;
  return at === undefined ? text.length : from + at;
}

/** Returns the number of units of the decoded text that precede this offset of the original. */
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

/** Returns the offset at which the original of a decoded unit starts, for the unit at or before `offset`. */
function beginningOfUnit(decoded: DecodedText, offset: number): number {
  if (decoded.offsets === undefined || offset === 0) return offset;
  const units = unitsUntil(decoded, offset + 1);
  return units === 0 ? 0 : decoded.offsets[units - 1]!;
}

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

/** Replaces the ranges that end within the text by `mask`. */
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
