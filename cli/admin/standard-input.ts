import { AdminError } from './context.js';

const MAX_BYTES = 16 * 1024;

/** A password that is piped in, without the line break that `echo` adds. It never stands in a command line. */
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
