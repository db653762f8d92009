import { HEADER_BYTES } from './messages.js';

/**
 * Returns a function that accepts the chunks of a channel. It returns the body of the frame once that is complete, and
 * undefined before. Each call of `createFrameReader` reads one frame. Throws a `RangeError` for a body of more than
 * `maxBytes` as soon as its length is known, and for bytes after the frame.
 */
export function createFrameReader(maxBytes: number): (chunk: Buffer) => Buffer | undefined {
  const chunks: Buffer[] = [];
  let received = 0;
  let bodyBytes: number | undefined;
  return (chunk) => {
    chunks.push(chunk);
    received += chunk.length;
    if (bodyBytes === undefined && received >= HEADER_BYTES) {
      bodyBytes = Buffer.concat(chunks).readUInt32BE();
      if (bodyBytes > maxBytes) throw new RangeError(`a frame of ${bodyBytes} bytes`);
    }
    if (bodyBytes === undefined || received < HEADER_BYTES + bodyBytes) return undefined;
    if (received > HEADER_BYTES + bodyBytes) throw new RangeError('bytes after a frame');
    return Buffer.concat(chunks).subarray(HEADER_BYTES);
  };
}
