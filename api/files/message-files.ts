// Converts the files of a message to the input of the run that answers it.
import type { FileValue } from '../../files/file-value.js';
import { fileFieldOf } from '../../graph/file-values.js';
import { inputFieldsOf } from '../../graph/input.js';

/**
 * Returns the value of the field `files`. If the trigger's field accepts a single file, the only file is returned
 * instead of a list. Undefined if there are no files and the trigger has the field, so that its default applies.
 */
export function messageFiles(files: readonly FileValue[], drawing: unknown): FileValue | FileValue[] | undefined {
  const field = inputFieldsOf(drawing).find(({ id }) => id === 'files');
  const kind = field && fileFieldOf(field);
  if (files.length === 0 && kind !== undefined) return undefined;
  return kind === 'file' && files.length === 1 ? files[0] : [...files];
}
