import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';

/** A log above this size is renamed at the next start; one older log is kept. */
const ROTATE_ABOVE_BYTES = 20 * 1024 * 1024;
const TAIL_BYTES = 4_000;
const FOLLOW_EVERY_MS = 200;

export function rotateLog(file: string): void {
  const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > ROTATE_ABOVE_BYTES) renameSync(file, `${file}.old`);
}

/** Returns the last lines of a log, to show them with an error. */
export function tailLog(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return '';
  }
  try {
    const { size } = fstatSync(descriptor);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(descriptor, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-15).join('\n');
  } finally {
    closeSync(descriptor);
  }
}

/** Calls `onLine` for every new line of `file` until the returned function is called. */
export function followLog(file: string, onLine: (line: string) => void): () => void {
  const descriptor = openSync(file, 'r');
  let position = fstatSync(descriptor).size;
  let partial = Buffer.alloc(0);
  const buffer = Buffer.alloc(64 * 1024);
  const readNew = (): void => {
    for (;;) {
      const sizeBytes = readSync(descriptor, buffer, 0, buffer.length, position);
      if (sizeBytes === 0) return;
      position += sizeBytes;
      const bytes = Buffer.concat([partial, buffer.subarray(0, sizeBytes)]);
      const end = bytes.lastIndexOf('\n');
      partial = bytes.subarray(end + 1);
      if (end < 0) continue;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) onLine(line);
    }
  };
  const polling = setInterval(readNew, FOLLOW_EVERY_MS);
  return () => {
    clearInterval(polling);
    readNew();
    closeSync(descriptor);
  };
}

const LOUD_LEVELS = new Set<unknown>(['warn', 'error', 'fatal', 40, 50, 60]);

/**
 * Returns the line to show to the user, or undefined for a line that only belongs in the log. Shows warnings and
 * errors. A line that is not a log entry is part of a crash report and is shown.
 */
export function warningOf(name: string, line: string): string | undefined {
  const entry = parseEntry(line);
  if (entry === undefined) return line.trim() === '' ? undefined : `[${name}] ${line}`;
  if (!LOUD_LEVELS.has(entry['level'])) return undefined;
  const error = entry['err'] as { message?: unknown } | undefined;
  const cause = typeof error?.message === 'string' ? `: ${error.message}` : '';
  return `[${name}] ${String(entry['level'])}: ${typeof entry['msg'] === 'string' ? entry['msg'] : ''}${cause}`;
}

function parseEntry(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
