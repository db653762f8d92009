// Searches text in JSON, and names a match by a variable.
import { toPath } from '../../drawing/variable-path.js';
import { isContainer } from '../../../graph/json.js';

/** Keys from the root to a value. */
export type JsonPath = readonly string[];

export interface Found {
  /** The first matches in display order. */
  paths: readonly JsonPath[];
  isCut: boolean;
}

/** Nobody walks through more matches. */
const MOST = 1_000;

/**
 * Returns the paths whose key or value contains the text, ignoring case. Iterative, because deep values would
 * overflow the stack.
 */
export function searchJson(value: unknown, text: string): Found {
  const wanted = text.toLowerCase();
  const paths: JsonPath[] = [];
  if (wanted === '' || !isContainer(value)) return { paths, isCut: false };
  const open: Level[] = [{ value, keys: Object.keys(value), at: 0 }];
  for (let level = open.at(-1); level !== undefined; level = open.at(-1)) {
    const key = level.keys[level.at];
    if (key === undefined) {
      open.pop();
      continue;
    }
    level.at += 1;
    const item = (level.value as Record<string, unknown>)[key];
    const isKeyOfObject = !Array.isArray(level.value);
    const isMatch = (isKeyOfObject && holds(key, wanted)) || (!isContainer(item) && holds(shownText(item), wanted));
    if (isMatch) {
      if (paths.length === MOST) return { paths, isCut: true };
      paths.push(open.map(({ keys, at }) => keys[at - 1]!));
    }
    if (isContainer(item)) open.push({ value: item, keys: Object.keys(item), at: 0 });
  }
  return { paths, isCut: false };
}

interface Level {
  value: object;
  keys: readonly string[];
  /** Number of visited keys. */
  at: number;
}

function holds(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted);
}

/** Returns a scalar as the tree displays it. */
function shownText(value: unknown): string {
  return String(value);
}

/** Splits a text at its matches; odd indexes are matches. `wanted` must be in lower case. */
export function splitAtMatches(text: string, wanted: string): readonly string[] {
  const lower = text.toLowerCase();
  // Some letters change their length in lower case, which would shift the positions of matches.
  if (wanted === '' || lower.length !== text.length) return [text];
  const parts: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(text.slice(from, at), text.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...parts, text.slice(from)];
}

/** Returns `{{ NODE.result.items[0]["a name"] }}` for a path within `root` (`NODE.result`). */
export function toVariable(root: string, value: unknown, path: JsonPath): string {
  let at: unknown = value;
  let text = root;
  for (const key of path) {
    text += Array.isArray(at) ? `[${key}]` : toPath(key);
    at = isContainer(at) ? (at as Record<string, unknown>)[key] : undefined;
  }
  return `{{ ${text} }}`;
}
