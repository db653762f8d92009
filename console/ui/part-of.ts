import { cutText } from '../../graph/cut-text.js';
// The beginning of a text that is too long to be shown whole.

export const SHOWN_BYTES = 64 * 1024;

interface Part {
  text: string;
  isWhole: boolean;
}

/** Returns as many characters as fit into `maxBytes` of UTF-8. None is cut in two. */
export function partOf(text: string, maxBytes = SHOWN_BYTES): Part {
  // No character takes more than three bytes for each of its units.
  if (text.length * 3 <= maxBytes) return { text, isWhole: true };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return read === text.length ? { text, isWhole: true } : { text: text.slice(0, read), isWhole: false };
}

/** Returns the whole text if it is short, else its first lines, cut between two characters. */
export function beginningOf(text: string, mostLines: number, mostCharacters: number): Part {
  const lines = text.split('\n', mostLines + 1);
  const few = lines.length > mostLines ? lines.slice(0, mostLines).join('\n') : text;
  if (few.length <= mostCharacters) return { text: few, isWhole: few.length === text.length };
  return { text: cutText(few, mostCharacters), isWhole: false };
}

/** The number of lines above and below the marked line. */
const AROUND = 100;

/**
 * Returns a line with the lines around it, and the number of the first one. Without a line it returns the beginning.
 */
export function linesAround(code: string, line = 1): { lines: string[]; first: number; total: number } {
  const all = code.split(/\r?\n/);
  const from = Math.min(Math.max(0, line - 1 - AROUND), Math.max(0, all.length - 2 * AROUND - 1));
  return { lines: all.slice(from, from + 2 * AROUND + 1), first: from + 1, total: all.length };
}
