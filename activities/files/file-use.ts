// Files that nodes read and save (docs/use/files.md).
import type { Readable } from 'node:stream';
import type { Database } from '../../db/core/client.js';
import { findFiles, type StoredFile } from '../../db/files/files-repository.js';
import { FileTooLargeError, type Files } from '../../files/files.js';
import { MissingBytesError } from '../../files/file-store.js';
import { fileIdOf, type FileValue } from '../../graph/file-values.js';
import { cutText } from '../../graph/cut-text.js';
import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

export interface FileUse {
  readonly maxBytes: number;
  /** Throws `file_missing`. */
  find(task: FileTask, value: unknown): Promise<StoredFile>;
  /** Returns the bytes as a stream. Throws `file_missing`. */
  read(file: StoredFile, signal: AbortSignal): Promise<Readable>;
  /** Saves a file of the node, with a reference from its run. Throws `file_too_large`, and the errors of the stream. */
  save(task: FileTask, file: { name: string; type: string | undefined }, bytes: Readable): Promise<FileValue>;
}

type FileTask = Pick<NodeTask, 'run' | 'runId' | 'signal'>;

export function createFileUse(db: Database, files: Files): FileUse {
  return {
    maxBytes: files.maxBytes,
    async find({ run }, value) {
      const id = fileIdOf(value);
      const [file] = id === undefined ? [] : await findFiles(db, run.projectId, [id]);
      if (file === undefined) throw fileMissing(value);
      return file;
    },
    async read(file, signal) {
      return files.read(file, undefined, signal).catch((error: unknown) => {
        throw error instanceof MissingBytesError ? fileMissing(file) : error;
      });
    },
    async save({ run, runId, signal }, { name, type }, bytes) {
      const holder = { kind: 'run', id: runId } as const;
      // The name comes from the other side and may contain a secret.
      const file = { projectId: run.projectId, name: run.masker.text(name), type, runId, holder };
      return files.save(file, bytes, signal).catch((error: unknown) => {
        throw error instanceof FileTooLargeError ? fileTooLarge(error.limitBytes) : error;
      });
    },
  };
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
