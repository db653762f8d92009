import { cutText } from '../../graph/cut-text.js';
// Cuts texts that are too long to be shown whole.

export const SHOWN_BYTES = 64 * 1024;

interface Part {
  text: string;
  isWhole: boolean;
}

/** Returns the longest beginning that fits into `maxBytes` of UTF-8, without splitting a character. */
export function partOf(text: string, maxBytes = SHOWN_BYTES): Part {
  // A UTF-16 unit takes at most three bytes of UTF-8, so this avoids encoding.
  if (text.length * 3 <= maxBytes) return { text, isWhole: true };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? { text, isWhole: true } : { text: text.slice(0, read), isWhole: false };
}

/** Returns the beginning of a text within both limits, without splitting a character. */
export function beginningOf(text: string, mostLines: number, mostCharacters: number): Part {
  const lines = text.split('\n', mostLines + 1);
  const few = lines.length > mostLines ? lines.slice(0, mostLines).join('\n') : text;
  if (few.length <= mostCharacters) return { text: few, isWhole: few.length === text.length };
  return { text: cutText(few, mostCharacters), isWhole: false };
}

/** Number of lines shown above and below the marked line. */
const AROUND = 100;

/**
 * Returns the lines around a line, the number of the first one, and the total. The default is the first line.
 */
export function linesAround(code: string, line = 1): { lines: string[]; first: number; total: number } {
  const all = code.split(/\r?\n/);
  const from = Math.min(Math.max(0, line - 1 - AROUND), Math.max(0, all.length - 2 * AROUND - 1));
  return { lines: all.slice(from, from + 2 * AROUND + 1), first: from + 1, total: all.length };
}
