import { isObject } from './json.js';

/** Whether two JSON values are equal; the order of keys does not count. Parts that are shared cost nothing. */
export function isSameJson(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  if (Array.isArray(left)) {
    return (
      Array.isArray(right) && left.length === right.length && left.every((item, at) => isSameJson(item, right[at]))
    );
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && isSameJson(left[key], right[key]))
  );
}

/** `value`, with every part that equals the same part of `known` taken from there: what has not changed is not redrawn. */
export function shareParts(known: unknown, value: unknown): unknown {
  if (isSameJson(known, value)) return known;
  if (Array.isArray(known) && Array.isArray(value)) return value.map((item, at) => shareParts(known[at], item));
  if (!isObject(known) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, Object.hasOwn(known, key) ? shareParts(known[key], part) : part]),
  );
}
