import { AdminError } from './context.js';

const MAX_BYTES = 16 * 1024;

/** Reads a password from standard input, so that it is in no command line. Removes the line break that `echo` adds. */
export async function readPassword(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new AdminError('--password-stdin: that is too long for a password.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
