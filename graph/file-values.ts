// Files as values: an object whose `file_id` is a file of the project. A client need only send `file_id`, because the
// service finds the rest by it. No function here recurses, so deep values cannot exhaust the stack.
import { isContainer, isObject, ownValue, setOwn, type JsonObject } from './json.js';

export interface FileValue {
  /** UUID. */
  file_id: string;
  name: string;
  /** A media type, as declared. */
  type: string;
  /** The size in bytes. */
  size: number;
  /** Hexadecimal. */
  sha256: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Returns the file id of a value that looks like a file; the project may not have such a file. */
export function fileIdOf(value: unknown): string | undefined {
  const id = isObject(value) ? ownValue(value, 'file_id') : undefined;
  return isFileId(id) ? id.toLowerCase() : undefined;
}

export function isFileId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

export function fileIdsIn(value: unknown): string[] {
  const ids = new Set<string>();
  for (const { id } of filesIn(value)) ids.add(id);
  return [...ids];
}

/** Matches a file id in JSON, also in JSON that is a string inside other JSON. */
const IN_TEXT = /file_id\\*"\s*:\s*\\*"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\\*"/gi;

/** Returns the distinct file ids in a JSON text, at any depth. */
export function fileIdsInText(text: string): string[] {
  if (!text.includes('file_id')) return [];
  return [...new Set([...text.matchAll(IN_TEXT)].map(([, id]) => id!.toLowerCase()))];
}

interface FoundFile {
  /** The keys that lead to the file, joined by dots. */
  path: string;
  id: string;
}

/** Returns the values that look like files in a JSON value, with their paths (`body.attachment`). */
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

/**
 * Returns a copy in which the known files have the properties that the service stores. Other objects stay as they are.
 */
export function withFileFacts<T>(value: T, known: ReadonlyMap<string, FileValue>): T {
  return replaceFiles(value, (_file, id) => {
    const file = known.get(id);
    return file && { ...file };
  });
}

/** Returns a copy with files replaced. Values for which `replace` returns undefined stay as they are. */
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

// Below: fields of triggers and of human tasks that accept files.

export type FileField = 'file' | 'files';

export function fileFieldOf(field: JsonObject): FileField | undefined {
  const { type } = field;
  return type === 'file' || type === 'files' ? type : undefined;
}

/**
 * Returns the file ids in a field's value: one file for `file`, a list or one file for `files`, each as a file value or
 * as a bare id. Returns undefined for any other value.
 */
export function givenFileIds(kind: FileField, value: unknown): string[] | undefined {
  const items = Array.isArray(value) ? value : [value];
  if (kind === 'file' && Array.isArray(value)) return undefined;
  const ids = items.map((item) => (isFileId(item) ? item.toLowerCase() : fileIdOf(item)));
  return ids.every((id) => id !== undefined) ? ids : undefined;
}

// Below: files in the calls of models.

/** The limits on the files in one call of a model: on their number, and on the sum of their bytes. */
export const MAX_MODEL_FILES = 100;
export const MAX_MODEL_FILE_BYTES = 16 * 1024 * 1024;

/**
 * Returns the values in the rendered `files` of a message to a model, each of which should be a file value. Leaves out
 * empty values.
 */
export function namedFiles(value: unknown): unknown[] {
  const items: unknown[] = Array.isArray(value) ? value.flat() : [value];
  return items.filter((item) => item !== null && item !== undefined && item !== '');
}
