import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/**
 * Each encoding costs memory and time, and a header of 64 KiB could name ten thousand. Honest servers need at most two.
 */
const MAX_ENCODINGS = 5;

export class TooManyEncodingsError extends Error {
  override name = 'TooManyEncodingsError';
}

export interface BodyReading {
  /** The `content-encoding` of the answer. */
  encoding: string | undefined;
  /** The `content-length` of the answer. */
  announcedBytes: number | undefined;
  limitBytes: number;
  /** Called before that many bytes are held. Nothing more is read until its promise resolves. */
  reserve: (bytes: number) => Promise<void> | undefined;
}

/**
 * Returns the whole body, decoded by its `content-encoding`. An unknown encoding is left as it is. Returns undefined if
 * the body exceeds `limitBytes` before or after decoding, so that a small answer cannot expand into a large one. While
 * `reserve` waits, backpressure on the socket slows the server down. Throws TooManyEncodingsError.
 *
 * A body with an announced length is reserved before its first byte and then read without a pause. If a body is paused
 * at its very last byte and the server closes the connection meanwhile, undici takes it for broken.
 */
export async function readBody(body: Readable, reading: BodyReading): Promise<Buffer | undefined> {
  const { encoding, announcedBytes, limitBytes, reserve } = reading;
  if (announcedBytes === undefined) return collect(decode(body, encoding), limitBytes, reserve);
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
  return collect(decode(Readable.from([sent]), encoding), limitBytes, (bytes) => reserve(sent.length + bytes));
}

async function collect(
  stream: NodeJS.ReadableStream,
  limitBytes: number,
  reserve: BodyReading['reserve'],
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > limitBytes) return undefined; // leaving the loop destroys the stream
    const granted = reserve(sizeBytes);
    if (granted !== undefined) await granted;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decode(body: Readable, contentEncoding: string | undefined): NodeJS.ReadableStream {
  // Encodings are listed in the order in which they were applied.
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
    .toReversed();
  if (encodings.length > MAX_ENCODINGS) {
    // We abort the body. Without a listener its error would end the process.
    body.on('error', () => undefined).destroy();
    throw new TooManyEncodingsError(`The response is encoded more than ${MAX_ENCODINGS} times.`);
  }
  let decoded: NodeJS.ReadableStream = body;
  for (const encoding of encodings) {
    const decoder = DECODERS[encoding];
    if (decoder === undefined) return decoded;
    // `pipeline` requires the callback. An error also reaches the reader of the last stream.
    decoded = pipeline(decoded, decoder(), () => undefined);
  }
  return decoded;
}
