import { isContainer } from './json.js';

/** The limit for JSON that callers send. It exceeds the depth of every real drawing, and code may recurse this deep. */
export const MAX_REQUEST_DEPTH = 200;

/**
 * The limit for JSON that models, servers and code return as results. Writing a much deeper value as JSON would
 * overflow the stack.
 */
export const MAX_RESULT_DEPTH = 500;

/**
 * Returns true if arrays and objects are nested more than `limit` deep. `JSON.parse` accepts depths that other code
 * cannot handle.
 */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (!isContainer(value)) return false;
  return limit === 0 || Object.values(value).some((item) => isDeeperThan(item, limit - 1));
}
