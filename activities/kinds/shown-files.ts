// The files that a human task shows.
import type { Database } from '../../db/core/client.js';
import { findFiles } from '../../db/files/files-repository.js';
import { toFileValue } from '../../files/file-value.js';
import { fileIdOf, isFileId, type FileValue } from '../../graph/file-values.js';
import { isEmpty } from '../../graph/json.js';
import { MAX_LISTED_FILES } from '../../graph/nodes/shared-fields.js';
import { fileMissing } from '../files/file-use.js';
import { NodeFailure } from '../node/failures.js';
import type { NodeTask } from '../node/node-step.js';

/**
 * Returns the files of a rendered field: one file, or a list whose variables may have rendered nested lists. Skips
 * empty values, because a file field may be optional. Throws `file_missing` and `too_many_files`.
 */
export async function findShownFiles(db: Database, { run }: NodeTask, rendered: unknown): Promise<FileValue[]> {
  const values = [rendered].flat(2).filter((value) => !isEmpty(value));
  if (values.length === 0) return [];
  if (values.length > MAX_LISTED_FILES) {
    throw new NodeFailure('too_many_files', `A task shows at most ${MAX_LISTED_FILES} files.`);
  }
  const ids = values.map((value) => (isFileId(value) ? value.toLowerCase() : fileIdOf(value)));
  const found = await findFiles(
    db,
    run.projectId,
    ids.flatMap((id) => id ?? []),
  );
  const known = new Map(found.map((file) => [file.id, toFileValue(file)]));
  return ids.map((id, at) => {
    const file = known.get(id ?? '');
    if (file === undefined) throw fileMissing(values[at]);
    return { ...file, name: run.masker.text(file.name) };
  });
}
