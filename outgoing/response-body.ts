import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS: Record<string, () => NodeJS.ReadWriteStream> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Each costs memory and time of its own; a header of 64 KiB could name ten thousand. Nobody honest needs two. */
const MAX_ENCODINGS = 5;

export class TooManyEncodingsError extends Error {
  override name = 'TooManyEncodingsError';
}

export interface BodyReading {
  /** `content-encoding` of the answer. */
  encoding: string | undefined;
  /** `content-length` of the answer. */
  announcedBytes: number | undefined;
  limitBytes: number;
  /** Called before that much is held; nothing more is read until it is granted. */
  reserve: (bytes: number) => Promise<void> | undefined;
}

/**
 * The whole body, decoded by its `content-encoding` (what is not known stays as it is). Undefined above `limitBytes`,
 * before decoding or after it, so that a small answer cannot unfold into a large one. While `reserve` makes it wait the
 * other side is slowed down by its own socket. Throws TooManyEncodingsError.
 *
 * What has its length announced is waited for before its first byte, and then read without a pause: undici takes a
 * body that is paused at its very last byte for broken when the server closes the connection meanwhile.
 */
export async function readBody(body: Readable, reading: BodyReading): Promise<Buffer | undefined> {
  const { encoding, announcedBytes, limitBytes, reserve } = reading;
  if (announcedBytes === undefined) return collect(decode(body, encoding), limitBytes, reserve);
  // Nobody reads it while it waits: that it breaks off then would end the process.
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
  // Listed in the order in which they were applied.
  const encodings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
    .toReversed();
  if (encodings.length > MAX_ENCODINGS) {
    // That it breaks off is our doing; without a listener it would end the process.
    body.on('error', () => undefined).destroy();
    throw new TooManyEncodingsError(`The response is encoded more than ${MAX_ENCODINGS} times.`);
  }
  let decoded: NodeJS.ReadableStream = body;
  for (const encoding of encodings) {
    const decoder = DECODERS[encoding];
    if (decoder === undefined) return decoded;
    // The callback is only there because pipeline demands one: an error reaches the reader of the last stream.
    decoded = pipeline(decoded, decoder(), () => undefined);
  }
  return decoded;
}
