// Files that nodes read and save (docs/use/files.md).
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../../db/core/client.js';
import { outageOf } from '../../db/core/outage.js';
import { findFiles, type StoredFile } from '../../db/files/files-repository.js';
import { FileTooLargeError, type Files } from '../../files/files.js';
import { MissingBytesError } from '../../files/file-store.js';
import { StoreAwayError } from '../../files/store-failures.js';
import { fileIdOf, type FileValue } from '../../graph/file-values.js';
import { cutText } from '../../graph/cut-text.js';
import { startDeadline } from '../../outgoing/pausable-deadline.js';
import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';
import { PERSIST_WHILE_AWAY_MS } from '../node/record.js';

export interface FileUse {
  readonly maxBytes: number;
  /**
   * Throws `file_missing`, and `MissingKeyError` if the key that sealed the file's bytes is gone, so that callers find
   * out before they send anything.
   */
  find(task: FileTask, value: unknown): Promise<StoredFile>;
  /** Like `Files.read`, but throws `file_missing` instead of `MissingBytesError`. */
  read(file: StoredFile, signal: AbortSignal): Promise<Readable>;
  /**
   * Saves a file of the node, with a reference from its run. Throws like `Files.save`, but `file_too_large` instead of
   * `FileTooLargeError`.
   */
  save(task: FileTask, file: NamedFile, bytes: Readable): Promise<FileValue>;
  /**
   * Saves the answer to a call that must not be repeated. Repeats the save while the store is away, for two minutes,
   * and while PostgreSQL is away, for half an hour. Then throws `files_unavailable`, or the error of PostgreSQL. Throws
   * the other errors of `save` at once.
   */
  saveAnswer(task: FileTask, file: NamedFile, bytes: Buffer): Promise<FileValue>;
}

interface NamedFile {
  name: string;
  type: string | undefined;
}

type FileTask = Pick<NodeTask, 'run' | 'runId' | 'signal'>;

/** `store` limits the repetition and also each save, because a store may accept a request and never answer it. */
const SAVE_LIMITS = { store: 2 * 60_000, database: PERSIST_WHILE_AWAY_MS, pause: 5_000 };

export function createFileUse(db: Database, files: Files, limitsMs = SAVE_LIMITS): FileUse {
  const use: FileUse = {
    maxBytes: files.maxBytes,
    async find({ run }, value) {
      const id = fileIdOf(value);
      const [file] = id === undefined ? [] : await findFiles(db, run.projectId, [id]);
      if (file === undefined) throw fileMissing(value);
      files.assertKey(file);
      return file;
    },
    async read(file, signal) {
      return files.read(file, undefined, signal).catch((error: unknown) => {
        throw error instanceof MissingBytesError ? fileMissing(file) : error;
      });
    },
    async save({ run, runId, signal }, { name, type }, bytes) {
      const holder = { kind: 'run', id: runId } as const;
      // A server or the code of a node has chosen the name, which may contain a secret.
      const file = { projectId: run.projectId, name: run.masker.text(name), type, runId, holder };
      return files.save(file, bytes, signal).catch((error: unknown) => {
        throw error instanceof FileTooLargeError ? fileTooLarge(error.limitBytes) : error;
      });
    },
    async saveAnswer(task, file, bytes) {
      for (const startedAt = performance.now(); ;) {
        const limit = startDeadline(limitsMs.store);
        try {
          const signal = AbortSignal.any([task.signal, limit.signal]);
          return await use.save({ ...task, signal }, file, streamOf(bytes));
        } catch (error) {
          task.signal.throwIfAborted();
          const tookMs = performance.now() - startedAt;
          const isDatabaseAway = outageOf(error) !== undefined;
          const isStoreAway = error instanceof StoreAwayError || limit.signal.aborted;
          if (!isDatabaseAway && !isStoreAway) throw error;
          if (isDatabaseAway && tookMs > limitsMs.database) throw error;
          if (!isDatabaseAway && tookMs > limitsMs.store) throw filesUnavailable({ mayRepeat: false });
        } finally {
          limit.clear();
        }
        await pause(limitsMs.pause, undefined, { signal: task.signal });
      }
    },
  };
  return use;
}

/** Without bytes the stream has no chunk, because an empty chunk would be read as data. */
export function streamOf(bytes: Buffer): Readable {
  return Readable.from(bytes.length === 0 ? [] : [bytes], { objectMode: false });
}

const ATTEMPT_AGAIN_MS = 15_000;

/** The store failed during a call, or while its answer was saved. `mayRepeat` says if the call may be made again. */
export function filesUnavailable({ mayRepeat }: { mayRepeat: boolean }): NodeFailure {
  return new NodeFailure('files_unavailable', 'The service could not store or read a file, because its store failed.', {
    isRetryable: mayRepeat,
    retryAfterMs: ATTEMPT_AGAIN_MS,
  });
}

export function fileTooLarge(limitBytes: number): NodeFailure {
  return new NodeFailure('file_too_large', `The file has more than ${limitBytes} bytes.`);
}

/** `who` contains a verb, for example `The code reads`. */
export function filesTooLarge(who: string, limitBytes: number): NodeFailure {
  return new NodeFailure('file_too_large', `${who} more than ${limitBytes} bytes of files.`);
}

export function fileMissing(value: unknown): NodeFailure {
  const { name } = (typeof value === 'object' && value !== null ? value : {}) as { name?: unknown };
  const named = typeof name === 'string' && name !== '' ? ` ${JSON.stringify(cutText(name, 255))}` : '';
  return new NodeFailure('file_missing', `The project has no file${named}, or it was deleted.`);
}
