import { addAbortSignal, pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS: Record<string, () => Transform> = {
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

/** An encoding of the body has expanded into more than its limit. */
export class ExpandedTooFarError extends Error {
  override name = 'ExpandedTooFarError';
}

export interface Decoding {
  /** The `content-encoding` of the answer. */
  encoding: string | undefined;
  /** The limit on what each encoding expands into. */
  limitBytes: number;
  /** Aborting it stops the decoders, also when all bytes of the answer have come. */
  signal: AbortSignal;
}

/**
 * Returns the body, decoded by its `content-encoding`; it fails with `ExpandedTooFarError`. An unknown encoding is left
 * as it is. Throws TooManyEncodingsError.
 */
export function decodeBody(body: Readable, { encoding, limitBytes, signal }: Decoding): Readable {
  const names = encodingsOf(encoding);
  if (names.length > MAX_ENCODINGS) {
    // The body is aborted. Without a listener its error would end the process.
    body.on('error', () => undefined).destroy();
    throw new TooManyEncodingsError(`The response is encoded more than ${MAX_ENCODINGS} times.`);
  }
  let decoded = body;
  for (const name of names) {
    const decoder = DECODERS[name];
    if (decoder === undefined) break;
    // An inner encoding may expand into nothing, so that a limit on the result alone would not end the work.
    for (const stage of [decoder(), createLimiter(limitBytes)]) {
      // `pipeline` requires the callback. An error also reaches the reader of the last stream.
      decoded = pipeline(decoded, stage, () => undefined);
    }
  }
  return decoded === body ? body : addAbortSignal(signal, decoded);
}

/** The encodings are listed in the order in which they were applied, and returned in the order in which they are undone. */
function encodingsOf(contentEncoding = ''): string[] {
  return contentEncoding
    .toLowerCase()
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
    .toReversed();
}

function createLimiter(limitBytes: number): Transform {
  let sizeBytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) done(new ExpandedTooFarError('The body expands into too many bytes.'));
      else done(null, chunk);
    },
  });
}
