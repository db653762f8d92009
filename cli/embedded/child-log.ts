import {
  closeSync,
  createWriteStream,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  type WriteStream,
} from 'node:fs';

/** A log that grew beyond this moves aside at the next start; one older log is kept. */
const ROTATE_ABOVE_BYTES = 20 * 1024 * 1024;
const TAIL_BYTES = 4_000;

export function rotateLog(file: string): void {
  const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > ROTATE_ABOVE_BYTES) renameSync(file, `${file}.old`);
}

export function openLogStream(file: string): WriteStream {
  // A full disk must not take the supervisor down: its children matter more than their logs.
  return createWriteStream(file, { flags: 'a', mode: 0o600 }).on('error', () => undefined);
}

/** The last lines of a log, to show beside an error. */
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
