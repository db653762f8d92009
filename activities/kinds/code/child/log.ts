// The console lines of a program.

export interface Log {
  readonly lines: string[];
  /** Keeps what there is room for. */
  add(line: string): void;
}

const CUT = '... the log is cut here.';

/** `maxBytes`: of UTF-8, of all lines together, each with a line break. The note that ends a log which was cut is extra. */
export function createLog(maxBytes: number): Log {
  const lines: string[] = [];
  let left = maxBytes;
  return {
    lines,
    add(line) {
      if (left < 0) return;
      const bytes = Buffer.from(`${line}\n`);
      if (bytes.length > left) lines.push(cutAt(bytes, left), CUT);
      else lines.push(line);
      left -= bytes.length;
    },
  };
}

/** A character that would be cut in two is left out. */
function cutAt(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
