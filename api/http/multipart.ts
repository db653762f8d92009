// Reads bodies of multipart/form-data part by part as they arrive. RFC 7578.
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { EventEmitter } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError } from './errors.js';

export interface BodyPart {
  field: string;
  /** The file name that the client sent, without its folders; undefined for a part that is no file. */
  name: string | undefined;
  /** The media type with its parameters, by default `text/plain`; `charset` declares the encoding of the bytes. */
  type: string;
  bytes: Readable;
}

interface MultipartOptions {
  contentType: string;
  maxParts: number;
  /** Called for one part after the other. Must read the bytes to their end, or throw. */
  onPart: (part: BodyPart) => Promise<void>;
}

export function isMultipart(contentType: string): boolean {
  return /^multipart\/form-data\s*(?:;|$)/i.test(contentType.trim());
}

const HEADER_LIMITS = { fieldNameSize: 1_000, headerPairs: 20, headerSize: 16 * 1024 };

/**
 * Resolves when all parts are read, one after the other: receiving pauses while `onPart` of an earlier part is pending.
 * Throws what `onPart` throws, an `ApiError` with which `body` fails, and 400 for a malformed or broken body or too
 * many parts.
 */
export async function readMultipart(
  body: Readable,
  { contentType, maxParts, onPart }: MultipartOptions,
): Promise<void> {
  const parser = createParser(contentType, maxParts);
  const wholeType = watchTypes(parser);
  const parts: Readable[] = [];
  /** `last` is the pending read of the newest part; `earlier` is that of the parts before it. */
  let [earlier, last] = [Promise.resolve(), Promise.resolve()];
  const refusals = new Set<unknown>();
  const fail = (error: Error): void => void parser.destroy(error);
  parser.on('partsLimit', () => fail(new ApiError(400, 'parse_error', `The body has more than ${maxParts} parts.`)));
  parser.on('file', (field, bytes, name: string | undefined, _encoding, type) => {
    // `pipeline` already reports the failure of the body.
    bytes.on('error', () => undefined);
    parts.push(bytes);
    const part = { field, name, type: wholeType() ?? type, bytes };
    earlier = last;
    last = earlier.then(() => onPart(part));
    last.catch((error: Error) => {
      refusals.add(error);
      fail(error);
    });
  });
  const paced = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      yield piece;
      await earlier;
    }
  };
  try {
    await pipeline(body, paced, parser);
  } catch (error) {
    // The parser leaves the parts of a failed body open; without this, their readers would wait forever.
    for (const part of parts) part.destroy();
    await last.catch(() => undefined);
    throw refusals.has(error) || error instanceof ApiError ? error : malformed(error);
  }
  await last;
}

function createParser(contentType: string, maxParts: number): BusboyInstance {
  try {
    const limits = { parts: maxParts, ...HEADER_LIMITS };
    return new Busboy({ headers: { 'content-type': contentType }, limits, isPartAFile: () => true });
  } catch (error) {
    throw malformed(error);
  }
}

/**
 * Returns a function that returns the media type of the newest part as it was sent, undefined if the part declares
 * none. The parser itself reports the type without its parameters.
 */
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
