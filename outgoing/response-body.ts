import { Readable } from 'node:stream';
import { decodeBody, ExpandedTooFarError, type Decoding } from './decoded-body.js';

export interface BodyReading extends Decoding {
  /** The `content-length` of the answer. */
  announcedBytes: number | undefined;
  /** Called before that many bytes are held. Nothing more is read until its promise resolves. */
  reserve: (bytes: number) => Promise<void> | undefined;
}

/**
 * Returns the whole body, decoded by its `content-encoding`. An unknown encoding is left as it is. Returns undefined if
 * the body exceeds `limitBytes` before, amid or after decoding, so that a small answer cannot expand into a large one.
 * While `reserve` waits, backpressure on the socket slows the server down. Throws TooManyEncodingsError, and the error
 * of an aborted stream once `signal` is aborted.
 *
 * A body with an announced length is reserved before its first byte and then read without a pause. If a body is paused
 * at its very last byte and the server closes the connection meanwhile, undici takes it for broken.
 */
export async function readBody(body: Readable, reading: BodyReading): Promise<Buffer | undefined> {
  const { encoding, announcedBytes, limitBytes, reserve } = reading;
  if (announcedBytes === undefined) return collect(decodeBody(body, reading), limitBytes, reserve);
  // Without a listener, an error while the body waits would end the process.
  body.on('error', () => undefined);
  if (announcedBytes > limitBytes) {
    body.destroy();
    return undefined;
  }
  const isEncoded = encoding !== undefined && encoding !== '';
  try {
    const granted = reserve(announcedBytes);
    if (granted !== undefined) await granted;
  } catch (error) {
    body.destroy();
    throw error;
  }
  const sent = await collect(body, limitBytes, () => undefined);
  if (sent === undefined || !isEncoded) return sent;
  return collect(decodeBody(Readable.from([sent]), reading), limitBytes, (bytes) => reserve(sent.length + bytes));
}

async function collect(
  stream: Readable,
  limitBytes: number,
  reserve: BodyReading['reserve'],
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) return undefined; // leaving the loop destroys the stream
      const granted = reserve(sizeBytes);
      if (granted !== undefined) await granted;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ExpandedTooFarError) return undefined;
    throw error;
  }
  return Buffer.concat(chunks);
}
