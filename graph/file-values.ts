// Files as values: an object whose `file_id` is a file of the project. Only `file_id` counts; the service fills in the rest.
// Nothing here recurses.
import { isContainer, isObject, ownValue, setOwn, type JsonObject } from './json.js';

export interface FileValue {
  /** UUID. */
  file_id: string;
  name: string;
  /** A media type, as it was declared. */
  type: string;
  /** In bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the id that makes a value a file, if the project has such a file. */
export function fileIdOf(value: unknown): string | undefined {
  const id = isObject(value) ? ownValue(value, 'file_id') : undefined;
  return isFileId(id) ? id.toLowerCase() : undefined;
}

export function isFileId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** Returns the ids of all that may be files in a JSON value, each once. */
export function fileIdsIn(value: unknown): string[] {
  const ids = new Set<string>();
  for (const { id } of filesIn(value)) ids.add(id);
  return [...ids];
}

/** Names a file in JSON, also where the JSON stands as a text in other JSON. */
const IN_TEXT = /file_id\\*"\s*:\s*\\*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\\*"/gi;

/** Returns the ids of all that may be files in a JSON text, however deep, each once. */
export function fileIdsInText(text: string): string[] {
  if (!text.includes('file_id')) return [];
  return [...new Set([...text.matchAll(IN_TEXT)].map(([, id]) => id!.toLowerCase()))];
}

interface FoundFile {
  /** The keys that lead to it. */
  path: string;
  id: string;
}

/** Returns what may be files in a JSON value, with their paths (`body.attachment`). */
export function filesIn(value: unknown): FoundFile[] {
  const found: FoundFile[] = [];
  const pending: [path: string, value: unknown][] = [['', value]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, current] = next;
    if (!isContainer(current)) continue;
    const id = fileIdOf(current);
    if (id === undefined) {
      for (const [key, part] of Object.entries(current)) pending.push([path === '' ? key : `${path}.${key}`, part]);
    } else found.push({ path, id });
  }
  return found;
}

/** Returns a copy in which the known files are told as the service knows them. Other objects stay as they are. */
export function withFileFacts<T>(value: T, known: ReadonlyMap<string, FileValue>): T {
  return replaceFiles(value, (_file, id) => {
    const file = known.get(id);
    return file && { ...file };
  });
}

/** Returns a copy with other values in place of what may be files. What `replace` gives nothing for stays as it is. */
export function replaceFiles<T>(value: T, replace: (file: JsonObject, id: string) => unknown): T {
  const copyOf = (current: unknown): unknown => {
    if (!isContainer(current)) return current;
    const id = fileIdOf(current);
    const other = id === undefined ? undefined : replace(current as JsonObject, id);
    if (other !== undefined) return other;
    const copy = Array.isArray(current) ? [] : {};
    pending.push([current, copy]);
    return copy;
  };
  const pending: [source: object, copy: object][] = [];
  const whole = copyOf(value);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [source, copy] = next;
    for (const [key, part] of Object.entries(source)) setOwn(copy, key, copyOf(part));
  }
  return whole as T;
}

// Fields of triggers and of human tasks that take files.

export type FileField = 'file' | 'files';

/** Returns `file` or `files` where the field takes files. */
export function fileFieldOf(field: JsonObject): FileField | undefined {
  const { type } = field;
  return type === 'file' || type === 'files' ? type : undefined;
}

/**
 * Returns the ids that are given for a field: of one file for `file`, of a list for `files`. Each is told by its value or by
 * its id alone. Undefined where something else is given.
 */
export function givenFileIds(kind: FileField, value: unknown): string[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  if (kind === 'file' && Array.isArray(value)) return undefined;
  const ids = items.map((item) => (isFileId(item) ? item.toLowerCase() : fileIdOf(item)));
  return ids.every((id) => id !== undefined) ? ids : undefined;
}

/** The limits on the files that a model is given in a call. */
export const MAX_MODEL_FILES = 100;
export const MAX_MODEL_FILE_BYTES = 16 * 1024 * 1024;

/** Returns the values that name the files of a message. An empty one names none. */
export function namedFiles(value: unknown): unknown[] {
  const items: unknown[] = Array.isArray(value) ? value.flat() : [value];
  return items.filter((item) => item !== null && item !== undefined && item !== '');
}
