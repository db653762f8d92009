// Where the sealed bytes of files are kept: in a folder that all processes share, or in S3.
import type { Readable } from 'node:stream';
import type { ByteRange } from './sealed-copy.js';

export interface FileStore {
  /** The memory that one `write` holds. */
  readonly bufferBytes: number;
  /** Resolves when all bytes are kept. When it fails, nothing of them is left, unless the process dies. */
  write(name: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Throws MissingBytesError. */
  read(name: string, range: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Removes what there is of it, written wholly or in part. It may be repeated. */
  remove(name: string): Promise<void>;
  /** Returns the mark of the store, which becomes `mark` where it has none yet. */
  markedAs(mark: string): Promise<string>;
}

/** The store does not have the bytes. */
export class MissingBytesError extends Error {
  override name = 'MissingBytesError';

  constructor(name: string) {
    super(`The store has no bytes ${name}.`);
  }
}

/** The name of the mark in a store. No file has such a name. */
export const MARK = 'store-mark';
