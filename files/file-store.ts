// The storage of sealed file bytes: a folder that all processes share, or S3.
import type { Readable } from 'node:stream';
import type { ByteRange } from './sealed-copy.js';

export interface FileStore {
  /** The memory that one `write` holds, in bytes. */
  readonly bufferBytes: number;
  /** For how long the store may still complete a write that has failed here. Its bytes are removed after that time. */
  readonly lateMs: number;
  /**
   * Resolves when all bytes are stored. After a failure nothing is left, unless the process died or the store itself
   * failed. `remove` then removes the rest.
   */
  write(name: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Throws `MissingBytesError`. */
  read(name: string, range: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Removes complete and partial writes of the name. Idempotent. */
  remove(name: string): Promise<void>;
  /**
   * Returns the mark of the store, a random text that ties the store to one database. If the store has none yet, `mark`
   * becomes its mark.
   */
  markedAs(mark: string): Promise<string>;
}

export class MissingBytesError extends Error {
  override name = 'MissingBytesError';

  constructor(name: string) {
    super(`The store has no bytes ${name}.`);
  }
}

/** The name under which a store keeps its mark. No file can have this name. */
export const MARK = 'store-mark';
