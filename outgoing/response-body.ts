import { Readable, addAbortSignal, pipeline, Transform, type TransformCallback } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

interface BodyReading extends Decoding {
  announcedBytes: number | undefined;
  /** Called before that many bytes are stored. Reading continues when its promise resolves. */
  reserve: (bytes: number) => Promise<void> | undefined;
}

/**
 * Returns the whole body, decoded by its `content-encoding`. An unknown encoding is left undecoded. Returns undefined
 * if the announced length, the output of a decoder or the whole body exceeds `limitBytes`, so that a small answer
 * cannot expand into a large one. While `reserve` waits, backpressure on the socket slows the server down. Throws
 * `TooManyEncodingsError`, and the error of an aborted stream after `signal` is aborted.
 *
 * A body with an announced length is reserved before its first byte and then read without a pause. If a body is paused
 * at its very last byte and the server closes the connection meanwhile, undici treats the body as broken.
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

/** Each function receives the first byte. This is a map, because a server may name an encoding `constructor`. */
const DECODERS = new Map<string, (first: number) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  // Some servers send `deflate` without zlib's frame (RFC 9110, section 8.4.1.2), whose
  // first byte ends in the nibble 8.
  ['deflate', (first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
]);

/**
 * Creates the decoder with the first byte, because an empty body has no bytes and decoders would report it as broken.
 */
class Decoder extends Transform {
  readonly #open: (first: number) => Transform;
  #decoder: Transform | undefined;

  constructor(open: (first: number) => Transform) {
    super();
    this.#open = open;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    // Bytes that some servers send behind the end, such as zeros or a line break, are not part of the body.
    if (chunk.length === 0 || this.#decoder?.readableEnded === true) return done();
    this.#decoder ??= this.#createDecoder(chunk[0]!);
    this.#decoder.write(chunk, this.#orEnd(this.#decoder, done));
  }

  override _flush(done: TransformCallback): void {
    if (this.#decoder === undefined || this.#decoder.readableEnded) return done();
    this.#decoder.once('end', done).end();
  }

  /** A decoder that gets bytes behind the end of its data emits `end`, and does not call back for those bytes. */
  #orEnd(decoder: Transform, done: TransformCallback): (error?: Error | null) => void {
    const settle = (error?: Error | null): void => {
      decoder.off('end', end);
      done(error);
    };
    const end = (): void => settle();
    decoder.once('end', end);
    return settle;
  }

  override _read(size: number): void {
    this.#decoder?.resume();
    // oxlint-disable-next-line no-underscore-dangle -- streams call it so
    super._read(size);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#decoder?.destroy();
    done(error);
  }

  #createDecoder(first: number): Transform {
    const decoder = this.#open(first);
    decoder.on('error', (error) => this.destroy(error));
    decoder.on('data', (decoded: Buffer) => {
      if (!this.push(decoded)) decoder.pause();
    });
    return decoder;
  }
}

/**
 * Each encoding costs memory and time, and a header of 64 KiB could name ten thousand. Honest servers need at most two.
 */
const MAX_ENCODINGS = 5;

export class TooManyEncodingsError extends Error {
  override name = 'TooManyEncodingsError';
}

/** The body, or one of its encodings, is larger than its limit. */
export class ExpandedTooFarError extends Error {
  override name = 'ExpandedTooFarError';
}

interface Decoding {
  encoding: string | undefined;
  /** The limit on the output of each encoding. */
  limitBytes: number;
  /** Stops the decoders when aborted, even if all bytes of the answer have arrived. */
  signal: AbortSignal;
}

/**
 * Returns the body, decoded by its `content-encoding`. The stream fails with `ExpandedTooFarError` if the output of a
 * decoder exceeds `limitBytes`. An unknown encoding is left undecoded. Throws `TooManyEncodingsError`.
 */
export function decodeBody(body: Readable, { encoding, limitBytes, signal }: Decoding): Readable {
  const names = encodingsOf(encoding);
  if (names.length > MAX_ENCODINGS) {
    // Without a listener, the error of the destroyed body would end the process.
    body.on('error', () => undefined).destroy();
    throw new TooManyEncodingsError(`The response is encoded more than ${MAX_ENCODINGS} times.`);
  }
  let decoded = body;
  for (const name of names) {
    const open = DECODERS.get(name);
    if (open === undefined) break;
    // Every stage is limited, because an outer encoding may expand hugely while the inner one produces nothing.
    for (const stage of [new Decoder(open), createLimiter(limitBytes)]) {
      // `pipeline` requires the callback. An error also reaches the reader of the last stream.
      decoded = pipeline(decoded, stage, () => undefined);
    }
  }
  return decoded === body ? body : addAbortSignal(signal, decoded);
}

/** Like `decodeBody`, but a body that is not decoded fails with `ExpandedTooFarError` beyond the limit, too. */
export function decodeWithin(body: Readable, decoding: Decoding): Readable {
  const decoded = decodeBody(body, decoding);
  if (decoded !== body) return decoded;
  return addAbortSignal(
    decoding.signal,
    pipeline(body, createLimiter(decoding.limitBytes), () => undefined),
  );
}

/** Returns the encodings in the order in which they must be undone, the reverse of the header. */
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
      if (sizeBytes > limitBytes) done(new ExpandedTooFarError('The body has too many bytes.'));
      else done(null, chunk);
    },
  });
}
