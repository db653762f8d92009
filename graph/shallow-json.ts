import { findJson } from './found-json.js';
import { isDeeperThan, MAX_RESULT_DEPTH } from './json-depth.js';
import { parseModestJson } from './json-text.js';

/**
 * Parses JSON text. Returns undefined for text that is not JSON, has too many values, or is nested deeper than
 * `MAX_RESULT_DEPTH`; callers leave it as text.
 */
export function toShallowJson(text: string): unknown {
  try {
    return unlessDeep(parseModestJson(text));
  } catch {
    return undefined;
  }
}

/** Like `toShallowJson`, but finds the JSON in a text as `findJson` does. */
export function findShallowJson(text: string): unknown {
  return unlessDeep(findJson(text));
}

function unlessDeep(value: unknown): unknown {
  return isDeeperThan(value, MAX_RESULT_DEPTH) ? undefined : value;
}
