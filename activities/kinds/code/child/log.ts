// The console lines of a program.

export interface Log {
  readonly lines: string[];
  /** Drops the part of the line that exceeds the limit. */
  add(line: string): void;
}

const CUT = '... the log is cut here.';

/**
 * `maxBytes` limits the UTF-8 bytes of all lines, each with a line break. The note at the end of a cut log is not
 * counted.
 */
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

/** Omits a character that would be cut in two. */
function cutAt(bytes: Buffer, length: number): string {
  let end = length;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
