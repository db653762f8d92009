import { parseModestJson } from '../../graph/json-text.js';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../outgoing/json-depth.js';

/**
 * Undefined for what is no JSON or has too many values, and for deeper values: they cannot be written as JSON again later,
 * so they stay text.
 */
export function toShallowJson(text: string): unknown {
  try {
    const value = parseModestJson(text);
    return isDeeperThan(value, MAX_JSON_DEPTH) ? undefined : value;
  } catch {
    return undefined;
  }
}
