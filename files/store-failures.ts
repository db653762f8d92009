// Distinguishes failures of the store itself, such as an S3 that does not answer or a full disk, from failures of its
// callers (docs/use/files.md, "When the store is away").
import { MissingBytesError, type FileStore } from './file-store.js';
import { watchSource } from './watched-source.js';

/** Thrown if the store has failed. A write that was in progress is not stored. */
export class StoreAwayError extends Error {
  override name = 'StoreAwayError';

  constructor(cause: unknown) {
    super('The store of files has failed.', { cause });
  }
}

/**
 * Returns the store with its failures as `StoreAwayError`. Errors of the source of a write and of an aborted call stay
 * as they are, and so does `MissingBytesError`.
 */
export function tellingFailures(store: FileStore): FileStore {
  const orAway = async <T>(call: Promise<T>, signal?: AbortSignal): Promise<T> => {
    return call.catch((error: unknown) => {
      throw signal?.aborted || error instanceof MissingBytesError ? error : new StoreAwayError(error);
    });
  };
  return {
    bufferBytes: store.bufferBytes,
    lateMs: store.lateMs,
    async write(name, bytes, signal) {
      const source = watchSource(bytes);
      await orAway(store.write(name, source.bytes, signal), signal).catch((error: unknown) => {
        const broken = source.broken();
        throw broken === undefined ? error : broken.error;
      });
    },
    read: (name, range, signal) => orAway(store.read(name, range, signal), signal),
    remove: (name) => orAway(store.remove(name)),
    markedAs: (mark) => orAway(store.markedAs(mark)),
  };
}
