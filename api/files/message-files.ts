// The files of a message in the input of the run that answers it.
import type { FileValue } from '../../files/file-value.js';
import { fileFieldOf } from '../../graph/file-values.js';
import { inputFieldsOf } from '../../graph/input.js';

/**
 * Returns the value of the field `files`: a trigger whose field takes one file gets the only one. Undefined where there are none
 * and the trigger of the drawing has the field, which keeps its default then.
 */
export function messageFiles(files: readonly FileValue[], drawing: unknown): FileValue | FileValue[] | undefined {
  const field = inputFieldsOf(drawing).find(({ id }) => id === 'files');
  const kind = field && fileFieldOf(field);
  if (files.length === 0 && kind !== undefined) return undefined;
  return kind === 'file' && files.length === 1 ? files[0] : [...files];
}
