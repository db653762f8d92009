// Files as the values of inputs and results have them. docs/use/files.md.
import { isObject, isStructure, parseStructure } from '../ui/json.js';

export interface FileValue {
  file_id: string;
  name: string;
  /** As it was declared; nobody has looked at the bytes. */
  type: string;
  /** In bytes. */
  size: number;
  sha256: string;
  /** The run has had the file, and somebody has deleted it since. */
  deleted?: boolean;
}

/** Returns the file if the value is one, with all that the service fills in. */
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

/** Returns the files of a value, each once, in the order in which they stand in it. Texts that are JSON count, too. */
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
  return isStructure(value) ? value : undefined;
}

/** The text of a field whose files have not all arrived. It is no value yet. */
export const UPLOADING = 'uploading…';

/** Returns the files that the text of a field holds: the JSON of one file, or of a list. */
export function filesOfText(text: string): FileValue[] {
  return filesOf(parseStructure(text));
}
