import { findJson } from './found-json.js';
import { isDeeperThan, MAX_JSON_DEPTH } from './json-depth.js';
import { parseModestJson } from './json-text.js';

/**
 * Undefined for what is no JSON or has too many values, and for deeper values: they cannot be written as JSON again later,
 * so they stay text.
 */
export function toShallowJson(text: string): unknown {
  try {
    return unlessDeep(parseModestJson(text));
  } catch {
    return undefined;
  }
}

/** Works like `toShallowJson`, except that it finds the JSON that others have written as `findJson` does. */
export function findShallowJson(text: string): unknown {
  return unlessDeep(findJson(text));
}

function unlessDeep(value: unknown): unknown {
  return isDeeperThan(value, MAX_JSON_DEPTH) ? undefined : value;
}
