// Merges the files that came with a start into its input, and deletes them if the start is not accepted
// (docs/use/files.md, "Files in the input of a run").
import { fileFieldOf } from '../../graph/file-values.js';
import { inputFieldsOf, type RunInput } from '../../graph/input.js';
import { setOwn } from '../../graph/json.js';
import { endTurn } from '../http/heavy-work.js';
import type { RunDeps } from './deps.js';
import { discardUploads, type ReceivedInput } from './read-run-input.js';
import type { Acceptance } from './accept-run.js';

interface UploadedInput {
  input: RunInput | undefined;
  uploaded: string[];
  /** Identifies the files in the request's fingerprint; undefined without files. */
  options: object | undefined;
}

/**
 * Puts each file into the input field that it was sent for, in place of a value that `input` has there. A field that
 * accepts several files, or for which several were sent, gets a list.
 */
export function toUploadedInput(document: unknown, { input, uploads }: ReceivedInput): UploadedInput {
  if (uploads.length === 0) return { input, uploaded: [], options: undefined };
  const lists = new Set<unknown>(
    inputFieldsOf(document)
      .filter((field) => fileFieldOf(field) === 'files')
      .map(({ id }) => id),
  );
  const filled: RunInput = Array.isArray(input) ? input : { ...input };
  const uploaded = [...new Set(uploads.map(({ field }) => field))];
  for (const field of uploaded) {
    const files = uploads.filter((upload) => upload.field === field).map(({ file }) => file);
    setOwn(filled, field, lists.has(field) || files.length > 1 ? files : files[0]);
  }
  const sent = uploads.map(({ field, file }) => ({ field, name: file.name, sha256: file.sha256 }));
  return { input: filled, uploaded, options: { files: sent } };
}

/**
 * Deletes the uploaded files unless the start is accepted: after a refusal or an error, and for a repeat of an earlier
 * request. The deletion ends the turn of the large work that calls this, because the store of files may be slow.
 */
export async function keepIfAccepted<A extends Acceptance>(
  { files }: Pick<RunDeps, 'files'>,
  received: ReceivedInput,
  accept: () => Promise<A>,
): Promise<A> {
  let isKept = false;
  received.isTakenOver = true;
  try {
    const acceptance = await accept();
    isKept = acceptance.envelope.status === 201 && !acceptance.isRepeat;
    return acceptance;
  } finally {
    if (!isKept) {
      endTurn();
      await discardUploads(files, received);
    }
  }
}

/**
 * Deletes the uploaded files if `work` fails before the handler takes them over: they would count against the quota of
 * the project until the sweep a day later.
 */
export async function discardUnlessTakenOver(
  files: RunDeps['files'],
  received: ReceivedInput,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (received.isTakenOver !== true) await discardUploads(files, received);
    throw error;
  }
}
