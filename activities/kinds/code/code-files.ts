// The files that code reads and saves (docs/use/files.md, "Files in nodes").
import { buffer } from 'node:stream/consumers';
import { NodeFailure } from '../../node/failures.js';
import type { DocumentTexts } from '../../files/document-texts.js';
import { filesTooLarge, streamOf, type FileUse } from '../../files/file-use.js';
import type { NodeTask } from '../../node/node-step.js';
import { MAX_FILE_BYTES, MAX_FILE_CALLS, type Answer, type FileRequest } from './child/messages.js';
import type { ServeFiles, ServingLimit } from './sandbox-process.js';

export interface CodeFilesDeps {
  files: FileUse;
  texts: DocumentTexts;
}

/** Bytes of memory per byte of a file: its chunks, their concatenation, and its text. */
const HELD_FACTOR = 4;

/**
 * Serves the files of one program. Resizes the task's lease to its size at this call, plus the memory of the latest
 * file.
 */
export function serveFiles({ files, texts }: CodeFilesDeps, task: NodeTask): ServeFiles {
  const baseBytes = task.memory.bytes;
  let calls = 0;
  let usedBytes = 0;

  async function hold(size: number, limit: ServingLimit): Promise<void> {
    usedBytes += size;
    if (usedBytes > MAX_FILE_BYTES) throw filesTooLarge('The code reads and saves', MAX_FILE_BYTES);
    // The lease of a node that has ended must not grow again.
    limit.signal.throwIfAborted();
    const granted = task.memory.resize(baseBytes + HELD_FACTOR * size);
    if (granted !== undefined) await limit.outside(granted);
  }

  async function read({ fileId, as }: FileRequest & { status: 'read' }, limit: ServingLimit): Promise<Buffer> {
    const { signal } = limit;
    const file = await files.find(task, { file_id: fileId });
    await hold(file.size, limit);
    const bytes = await buffer(await files.read(file, signal));
    if (as === 'bytes') return bytes;
    const source = { file, projectId: task.run.projectId, signal };
    return Buffer.from(await texts.textOf(bytes, { ...source, outside: (wait) => limit.outside(wait) }));
  }

  async function serve(request: FileRequest, receive: () => Promise<Buffer>, limit: ServingLimit) {
    calls += 1;
    if (calls > MAX_FILE_CALLS) {
      throw new NodeFailure('file_too_large', `The code reads and saves more than ${MAX_FILE_CALLS} times.`);
    }
    if (request.status === 'read') return read(request, limit);
    const { name, type, size } = request;
    await hold(size, limit);
    const bytes = await receive();
    const named = { name, type: type ?? undefined };
    const file = await files.save({ ...task, signal: limit.signal }, named, streamOf(bytes));
    return { answer: 'saved', file } satisfies Answer;
  }

  return async (request, receive, limit) => {
    try {
      return await serve(request, receive, limit);
    } catch (error) {
      if (!(error instanceof NodeFailure) || error.isRetryable) throw error;
      return { answer: 'failed', code: error.code, message: error.message };
    }
  };
}
