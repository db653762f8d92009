// Saves, reads and removes the bytes of files. The bytes are streamed, so a file is never in memory as a
// whole (docs/adr/0028-files.md).
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Database, Db } from '../db/core/client.js';
import {
  adoptStoreMark,
  findCopiesToRemove,
  forgetCopy,
  giveUpCopy,
  giveUpUnusedCopies,
  insertCopy,
  postponeCopy,
  replaceCopy,
  settleCopy,
  touchCopy,
} from '../db/files/copies-repository.js';
import { deleteFile, insertFile, type StoredFile } from '../db/files/files-repository.js';
import { addReferences, type Holder } from '../db/files/references-repository.js';
import type { FileStore } from './file-store.js';
import { cleanFileName, cleanFileType, toFileValue, type FileValue } from './file-value.js';
import { sealedRange, type ByteRange, type FileSealer } from './sealed-copy.js';
import { StoreAwayError } from './store-failures.js';

export interface FileToSave {
  projectId: number;
  name: string;
  /** The media type that the sender has declared. */
  type: string | undefined;
  runId?: string;
  userId?: number;
  /** Gets a reference to the file as soon as it is stored. */
  holder?: Holder;
  /** Runs in the transaction that stores the file. Must call `store`, and return the id that `store` returns. */
  recorded?: (transaction: Db, store: () => Promise<string>) => Promise<string>;
}

export class FileTooLargeError extends Error {
  override name = 'FileTooLargeError';
  readonly limitBytes: number;

  constructor(limitBytes: number) {
    super(`The file has more than ${limitBytes} bytes.`);
    this.limitBytes = limitBytes;
  }
}

export interface Files {
  readonly maxBytes: number;
  /** The memory that one `save` holds, in bytes. */
  readonly bufferBytes: number;
  /**
   * Saves all bytes of the stream. Throws `FileTooLargeError`, PostgreSQL's refusal if the project's quota would be
   * exceeded, `StoreAwayError`, or the error of the stream. The sweep removes what is left then.
   */
  save(file: FileToSave, bytes: Readable, signal?: AbortSignal): Promise<FileValue>;
  /**
   * Returns the bytes, or a part of them. Throws `MissingKeyError`, `MissingBytesError` or `StoreAwayError`. The stream
   * fails with `StoreAwayError` if the store fails later, and with another error if the bytes were changed or cut off.
   */
  read(file: StoredFile, range?: ByteRange, signal?: AbortSignal): Promise<Readable>;
  /** Throws `MissingKeyError` if the key that sealed the bytes is missing. */
  assertKey(file: StoredFile): void;
  /**
   * Deletes the file. If no other file of the project has the same bytes, gives them up, and `removeAbandoned` removes
   * them. Returns `in_use` if a run in flight holds the file, and undefined if there is no such file.
   */
  delete(transaction: Db, id: string): Promise<'deleted' | 'in_use' | undefined>;
  /** Deletes files of a request that was refused. If that fails, the sweep removes them a day later. */
  discard(saved: readonly FileValue[]): Promise<void>;
  /**
   * Removes the bytes of at most `limit` copies that were given up. Stops when `stopped` is aborted, and throws if a
   * removal fails. Returns true if there may be more.
   */
  removeAbandoned(limit: number, stopped?: AbortSignal): Promise<boolean>;
  /** Stores the bytes of a copy anew, sealed with the first key, and gives up the old copy. */
  reseal(copy: StoredCopy): Promise<void>;
  /** Throws if the store does not belong to the database. */
  checkStore(): Promise<void>;
}

type StoredCopy = Pick<StoredFile, 'projectId' | 'copyId' | 'seal' | 'storedAs' | 'size'>;

interface WrittenCopy {
  id: string;
  size: number;
  sha256: Buffer;
}

interface WriteLimits {
  maxBytes: number;
  /** False if the bytes must not count for the project while they are written. */
  isCounted: boolean;
  signal?: AbortSignal | undefined;
}

interface FilesOptions {
  db: Database;
  store: FileStore;
  sealer: FileSealer;
  maxBytes: number;
}

export function createFiles({ db, store, sealer, maxBytes }: FilesOptions): Files {
  let isChecked = false;

  async function checkStore(): Promise<void> {
    if (isChecked) return;
    const mark = await store.markedAs(randomUUID());
    if ((await adoptStoreMark(db, mark)) !== mark) {
      throw new Error('The files of this database are in another store: see FILES_DIR and FILES_S3_BUCKET.');
    }
    isChecked = true;
  }

  async function deleteWithin(transaction: Db, id: string): Promise<'deleted' | 'in_use' | undefined> {
    const deleted = await deleteFile(transaction, id);
    if (deleted === undefined || deleted === 'in_use') return deleted;
    await giveUpUnusedCopies(transaction, [deleted.copyId]);
    return 'deleted';
  }

  async function remove({ id, name }: { id: string; name: string }): Promise<void> {
    await store.remove(name);
    await forgetCopy(db, id);
  }

  /**
   * If the removal fails, the sweep repeats it, because the copy has been given up. If the store may still complete the
   * write, only the sweep removes the bytes, later: bytes that arrived after the removal would stay forever.
   */
  async function giveUp(copy: { id: string; name: string }): Promise<void> {
    if ((await giveUpCopy(db, copy.id, store.lateMs)) && store.lateMs === 0) await remove(copy);
  }

  return {
    maxBytes,
    bufferBytes: store.bufferBytes,
    checkStore,
    async save(file, bytes, signal) {
      const insert = async (trx: Db, written: WrittenCopy): Promise<{ copyId: string; result: FileValue }> => {
        const { projectId, runId = null, userId = null } = file;
        const { size, sha256 } = written;
        const copyId = await settleCopy(trx, { id: written.id, projectId, bytes: size, sha256 });
        if (copyId === undefined) throw givenUp();
        const facts = { name: cleanFileName(file.name), type: cleanFileType(file.type), size, sha256 };
        const storeFile = async (): Promise<string> => {
          const id = randomUUID();
          await insertFile(trx, { ...facts, id, projectId, copyId, runId, userId });
          if (file.holder !== undefined) await addReferences(trx, projectId, file.holder, [id]);
          return id;
        };
        const id = await (file.recorded?.(trx, storeFile) ?? storeFile());
        return { copyId, result: toFileValue({ ...facts, id }) };
      };
      return writeCopy(file.projectId, bytes, insert, { maxBytes, isCounted: true, signal });
    },
    read: (file, range = { start: 0, end: file.size }, signal) => readCopy(file, range, signal),
    assertKey: (file) => sealer.assertKey(file),
    delete: deleteWithin,
    async discard(saved) {
      if (saved.length === 0) return;
      await db.transaction().execute(async (trx) => {
        for (const { file_id: id } of saved) await deleteWithin(trx, id);
      });
      await removeAbandoned(saved.length);
    },
    async reseal(old) {
      const bytes = await readCopy(old, { start: 0, end: old.size });
      const replace = (trx: Db, written: WrittenCopy) => replaceCopy(trx, old, written);
      // The limit on new files may be lower than when the old copy was stored, and the bytes of that one are counted.
      await writeCopy(old.projectId, bytes, replace, { maxBytes: old.size, isCounted: false });
    },
    removeAbandoned,
  };

  async function readCopy(copy: StoredCopy, range: ByteRange, signal?: AbortSignal): Promise<Readable> {
    // A missing key is an error here, before a stream of the store is open.
    const opening = sealer.opening(copy, copy.size, range);
    const sealed = await store.read(copy.storedAs, sealedRange(copy.size, range), signal);
    sealed.once('error', (error) => opening.destroy(signal?.aborted ? error : new StoreAwayError(error)));
    // Errors are ignored here, because the reader of `opening` gets them.
    pipeline(sealed, opening).catch(() => undefined);
    return opening;
  }

  /**
   * Stores the bytes as a new copy, and calls `settle` in the transaction that activates it. `settle` returns the id of
   * the copy that holds the bytes from then on.
   */
  async function writeCopy<T>(
    projectId: number,
    bytes: Readable,
    settle: (transaction: Db, written: WrittenCopy) => Promise<{ copyId: string; result: T }>,
    { maxBytes: limitBytes, isCounted, signal }: WriteLimits,
  ): Promise<T> {
    await checkStore();
    const copy = { id: randomUUID(), name: randomBytes(16).toString('hex') };
    const seal = sealer.newSeal();
    await insertCopy(db, { ...copy, projectId, seal });
    const report = async (written: number): Promise<void> => {
      if (!(await touchCopy(db, copy.id, isCounted ? written : 0))) throw givenUp();
    };
    const meter = createMeter({ maxBytes: limitBytes, report });
    try {
      const write = (sealed: AsyncIterable<Uint8Array>) => store.write(copy.name, sealed, signal);
      const sealing = sealer.sealing({ projectId, copyId: copy.id, seal });
      await pipeline(bytes, meter.count, sealing, write, { ...(signal !== undefined && { signal }) });
      const written = { id: copy.id, ...meter.sum() };
      const { copyId, result } = await db.transaction().execute((trx) => settle(trx, written));
      // If the removal fails, the sweep repeats it.
      if (copyId !== copy.id) await remove(copy).catch(() => undefined);
      return result;
    } catch (error) {
      await giveUp(copy).catch(() => undefined);
      throw error;
    }
  }

  async function removeAbandoned(limit: number, stopped?: AbortSignal): Promise<boolean> {
    const copies = await findCopiesToRemove(db, limit);
    for (const copy of copies) {
      if (stopped?.aborted === true) return true;
      await remove(copy).catch(async (error: unknown) => {
        await postponeCopy(db, copy.id);
        throw error;
      });
    }
    return copies.length === limit;
  }
}

/** The error of a writer that has not reported for minutes, so that the sweep took it for dead and gave up its copy. */
function givenUp(): Error {
  return new Error('the copy of a file was given up');
}

/** The project's stored bytes are updated each time this many bytes have passed, and at the interval below. */
const REPORT_BYTES = 8 * 1024 * 1024;
const REPORT_EVERY_MS = 30_000;

interface Metered {
  maxBytes: number;
  /** Reports that the writer is alive, and how much it has written. Throws if the writer must stop. */
  report: (written: number) => Promise<void>;
}

/** Counts and hashes the bytes that pass through `count`. */
function createMeter({ maxBytes, report }: Metered) {
  const hash = createHash('sha256');
  let size = 0;
  let reported = 0;
  return {
    count: async function* (this: void, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      // A slow upload reports its progress, too, so that the sweep does not give up its copy. Errors are ignored here,
      // because the reports below and the transaction at the end check that the upload is still allowed.
      const clock = setInterval(() => void report(size).catch(() => undefined), REPORT_EVERY_MS);
      try {
        for await (const piece of bytes) {
          size += piece.length;
          if (size > maxBytes) throw new FileTooLargeError(maxBytes);
          hash.update(piece);
          if (size - reported >= REPORT_BYTES) await report((reported = size));
          yield piece;
        }
      } finally {
        clearInterval(clock);
      }
    },
    sum: () => ({ size, sha256: hash.digest() }),
  };
}
