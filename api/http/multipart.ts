// Bodies of the media type multipart/form-data, part by part as they arrive. RFC 7578.
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from './errors.js';

export interface BodyPart {
  /** The name of the field. */
  field: string;
  /** The name of the file, as the client has sent it; undefined for a part that is no file. */
  name: string | undefined;
  /** The media type with its parameters, of which `charset` says what the bytes are. */
  type: string;
  bytes: Readable;
}

interface MultipartOptions {
  contentType: string;
  maxParts: number;
  /** Called for one part after the other. It reads the bytes to their end, or throws. */
  onPart: (part: BodyPart) => Promise<void>;
}

export function isMultipart(contentType: string): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType.trim());
}

const HEADER_LIMITS = { fieldNameSize: 1_000, headerPairs: 20, headerSize: 16 * 1024 };

/** Resolves when all parts are read. Throws what `onPart` throws, and 400 for a malformed body or too many parts. */
export async function readMultipart(
  body: Readable,
  { contentType, maxParts, onPart }: MultipartOptions,
): Promise<void> {
  const parser = createParser(contentType, maxParts);
  const reading: Promise<void>[] = [];
  const wholeType = watchTypes(parser);
  const fail = (error: Error): void => void parser.destroy(error);
  parser.on('partsLimit', () => fail(new ApiError(400, 'parse_error', `The body has more than ${maxParts} parts.`)));
  parser.on('file', (field, bytes, name: string | undefined, _encoding, type) => {
    // What breaks off after its reader has given up is nobody's error.
    bytes.on('error', () => undefined);
    const read = onPart({ field, name, type: wholeType() ?? type, bytes });
    read.catch((error: Error) => {
      bytes.resume();
      fail(error);
    });
    reading.push(read);
  });
  const parsed = await pipeline(body, parser).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // The reader of a part knows better why the body has failed than the body does.
  const settled = await Promise.allSettled(reading);
  const failed = settled.find((read) => read.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  if (parsed !== undefined) throw parsed.error instanceof ApiError ? parsed.error : malformed(parsed.error);
}

function createParser(contentType: string, maxParts: number): BusboyInstance {
  try {
    const limits = { parts: maxParts, ...HEADER_LIMITS };
    return new Busboy({ headers: { 'content-type': contentType }, limits, isPartAFile: () => true });
  } catch (error) {
    throw malformed(error);
  }
}

/** Returns a function that tells the media type of the last part as it came: the parser tells it without its parameters. */
function watchTypes(parser: BusboyInstance): () => string | undefined {
  let last: string | undefined;
  const { _parser: inner } = parser as unknown as { _parser: { parser: EventEmitter } };
  inner.parser.prependListener('part', (part: EventEmitter) => {
    part.prependListener('header', (header: Record<string, string[] | undefined>) => {
      last = header['content-type']?.[0];
    });
  });
  return () => last;
}

function malformed(cause: unknown): ApiError {
  return new ApiError(400, 'parse_error', 'The body is not a well-formed multipart/form-data.', { cause });
}
