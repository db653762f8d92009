// Starts that bring their files along, as multipart
// (docs/use/files.md, "Files in the input of a run").
import { fileFieldOf } from '../../graph/file-values.js';
import { inputFieldsOf, type RunInput } from '../../graph/input.js';
import { setOwn } from '../../graph/json.js';
import type { RunDeps } from './deps.js';
import { discardUploads, type GivenInput } from './read-run-input.js';
import type { Acceptance } from './accept-run.js';

interface UploadedInput {
  input: RunInput | undefined;
  /** The fields for which files came. */
  uploaded: string[];
  /** What tells the request from another one with the same key, besides its input; undefined where no files came. */
  options: object | undefined;
}

/** Puts the files into the fields of the input for which they came. A field of the trigger for several gets a list. */
export function toUploadedInput(document: unknown, { input, uploads }: GivenInput): UploadedInput {
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

/** The files of a start that is refused, or is a repeat of an earlier one, are deleted. */
export async function keepIfAccepted<A extends Acceptance>(
  { files }: Pick<RunDeps, 'files'>,
  given: GivenInput,
  accept: () => Promise<A>,
): Promise<A> {
  let isKept = false;
  try {
    const acceptance = await accept();
    isKept = acceptance.envelope.status === 201 && !acceptance.isRepeat;
    return acceptance;
  } finally {
    if (!isKept) await discardUploads(files, given);
  }
}
