// Stores files that arrive in requests, as a multipart part or as the whole body.
import type { Readable } from 'node:stream';
import type { FileToSave, Files } from '../../files/files.js';
import { FileTooLargeError } from '../../files/files.js';
import type { FileValue } from '../../files/file-value.js';
import type { ByteLease } from '../../memory/byte-budget.js';
import { headerText } from '../../outgoing/header-text.js';
import { ApiError, bodyTooLarge, invalidFields } from '../http/errors.js';
import { isMultipart, readMultipart } from '../http/multipart.js';

/** Covers multipart boundaries and headers around the file. */
export const MULTIPART_OVERHEAD_BYTES = 64 * 1024;

interface Upload {
  body: Readable;
  contentType: string;
  /** `X-File-Name`: percent-encoded UTF-8. */
  fileName: string | undefined;
  memory: ByteLease;
  signal: AbortSignal;
  of: Pick<FileToSave, 'projectId' | 'userId' | 'recorded'>;
}

/**
 * Throws 400 for a multipart body that is malformed or has no file, and for a malformed `X-File-Name`; 413 for a file
 * that is too large.
 */
export async function storeUpload(files: Files, upload: Upload): Promise<FileValue> {
  const { body, contentType, fileName, memory, signal, of } = upload;
  await memory.resize(files.bufferBytes);
  if (!isMultipart(contentType)) {
    return saveUpload(files, { ...of, name: decodeName(fileName), type: contentType }, body, signal);
  }
  const saved: FileValue[] = [];
  const reading = readMultipart(body, {
    contentType,
    maxParts: 1,
    async onPart({ field, name, type, bytes }) {
      if (field !== 'file') throw invalidFields({ [field]: ['The file is sent in the field `file`.'] });
      saved.push(await saveUpload(files, { ...of, name: name ?? '', type }, bytes, signal));
    },
  });
  // A body may turn out to be malformed after its file was saved.
  await reading.catch(async (error: unknown) => {
    await files.discard(saved).catch(() => undefined);
    throw error;
  });
  const [file] = saved;
  if (file === undefined) throw invalidFields({ file: ['This field is required.'] });
  return file;
}

export async function saveUpload(
  files: Files,
  file: FileToSave,
  bytes: Readable,
  signal: AbortSignal,
): Promise<FileValue> {
  return files.save(file, bytes, signal).catch((error: unknown) => {
    throw error instanceof FileTooLargeError ? bodyTooLarge(error.limitBytes) : error;
  });
}

/** Senders of hooks also write the name in plain UTF-8, which Node.js reads as latin-1. */
export function decodeName(encoded: string | undefined): string {
  try {
    return decodeURIComponent(headerText(encoded ?? ''));
  } catch (error) {
    throw new ApiError(400, 'invalid', 'X-File-Name must be percent-encoded UTF-8.', { cause: error });
  }
}
