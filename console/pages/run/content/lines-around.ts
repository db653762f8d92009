/** Above and below the marked line. */
const AROUND = 100;

/** A line with the lines around it, and the number of the first one. Without a line the beginning. */
export function linesAround(code: string, line = 1): { lines: string[]; first: number; total: number } {
  const all = code.split(/\r?\n/);
  const from = Math.min(Math.max(0, line - 1 - AROUND), Math.max(0, all.length - 2 * AROUND - 1));
  return { lines: all.slice(from, from + 2 * AROUND + 1), first: from + 1, total: all.length };
}
