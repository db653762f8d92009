import { pipeline, type Readable } from 'node:stream';
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

/**
 * The whole body, decoded by its `content-encoding` (what is not known stays as it is). Undefined above `limitBytes`,
 * counted after decoding, so that a small answer cannot unfold into a large one. Nothing more is read while `reserve`
 * makes it wait: the other side is slowed down by its own socket. Throws TooManyEncodingsError.
 */
export async function readBody(
  body: Readable,
  contentEncoding: string | undefined,
  limitBytes: number,
  reserve: (bytes: number) => Promise<void> | undefined,
): Promise<Buffer | undefined> {
  const decoded = decode(body, contentEncoding);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of decoded as AsyncIterable<Buffer>) {
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
