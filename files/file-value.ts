// Files as values of workflows, and the rules for their names and types (docs/use/files.md).
import type { FileValue } from '../graph/file-values.js';
import { cutText } from '../graph/cut-text.js';

export type { FileValue } from '../graph/file-values.js';

interface Described {
  id: string;
  name: string;
  type: string;
  size: number;
  sha256: Buffer;
}

export function toFileValue({ id, name, type, size, sha256 }: Described): FileValue {
  return { file_id: id, name, type, size, sha256: sha256.toString('hex') };
}

const LONGEST_NAME = 255;
const LONGEST_TYPE = 255;
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Returns a name that is safe to show and to store: the last part of a path, without control characters and
 * bidirectional text marks, of at most 255 characters.
 */
export function cleanFileName(raw: string): string {
  const last =
    raw
      .replace(/\p{Cs}/gu, '\ufffd')
      .split(/[/\\]/)
      .at(-1) ?? '';
  const shown = last.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, ' ').trim();
  const name = cutText(shown, LONGEST_NAME).trim();
  return /^\.*$/.test(name) ? 'file' : name;
}

/**
 * Returns the declared media type, in lower case except for its parameters, or `application/octet-stream` if it is not
 * valid.
 */
export function cleanFileType(raw: string | undefined): string {
  const type = (raw ?? '').trim();
  const isType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[\x20-\x7e]*)?$/.test(type) && type.length <= LONGEST_TYPE;
  return isType ? type.replace(/^[^;]+/, (name) => name.toLowerCase()) : UNKNOWN_TYPE;
}
