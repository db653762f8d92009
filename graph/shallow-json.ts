import { findJson } from './found-json.js';
import { isDeeperThan, MAX_RESULT_DEPTH } from './json-depth.js';
import { parseModestJson } from './json-text.js';

/**
 * Returns undefined for text that is not JSON, has too many values, or is nested too deeply. Deep values cannot be
 * written as JSON again, so callers leave them as text.
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
