// Files as values of inputs and results, see docs/use/files.md.
import { isObject, isContainer } from '../../graph/json.js';
import { parseStructure } from '../ui/json.js';

export interface FileValue {
  file_id: string;
  name: string;
  /** The declared MIME type; nothing has checked the bytes. */
  type: string;
  /** The size in bytes. */
  size: number;
  sha256: string;
  /** True if the file was deleted after the run read it. */
  deleted?: boolean;
}

/** Returns the value if it is a file with every field that the service fills in. */
export function toFile(value: unknown): FileValue | undefined {
  if (!isObject(value)) return undefined;
  const { file_id: id, name, type, size, sha256, deleted } = value;
  const isFile =
    typeof id === 'string' &&
    typeof name === 'string' &&
    typeof type === 'string' &&
    typeof size === 'number' &&
    typeof sha256 === 'string';
  return isFile ? { file_id: id, name, type, size, sha256, ...(deleted === true && { deleted }) } : undefined;
}

/**
 * Returns the distinct files in a value, in the order in which they occur. Texts that are JSON are searched as well.
 */
export function filesOf(value: unknown): FileValue[] {
  const found = new Map<string, FileValue>();
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const current = structureOf(pending.pop());
    if (current === undefined) continue;
    const file = toFile(current);
    if (file !== undefined) found.set(file.file_id, found.get(file.file_id) ?? file);
    else for (const part of Object.values(current).toReversed()) pending.push(part);
  }
  return [...found.values()];
}

function structureOf(value: unknown): object | undefined {
  if (typeof value === 'string') return value.includes('"file_id"') ? parseStructure(value) : undefined;
  return isContainer(value) ? value : undefined;
}

/** Text of a field while its files are uploading. It is not a valid value. */
export const UPLOADING = 'uploading…';

/** Returns the files in the text of a field, which is the JSON of one file or of a list. */
export function filesOfText(text: string): FileValue[] {
  return filesOf(parseStructure(text));
}
