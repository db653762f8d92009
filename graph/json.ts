// Reads and rebuilds untrusted JSON values. Nothing here recurses, so no depth of nesting overflows the stack.
// `__proto__` is treated like any other key.

import { ExactNumber } from './exact-number.js';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return isContainer(value) && !Array.isArray(value);
}

/** Returns true if the value is a JSON object or array. All other values are leaves. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
}

/** Returns true if a field is absent, null or an empty string. */
export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

/** Returns the own property of an object or the element of an array. The `length` of an array is neither. */
export function ownValue(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.prototype.propertyIsEnumerable.call(value, key) ? (value as JsonObject)[key] : undefined;
}

/** Sets `target[key] = value`, even for `__proto__`, where an assignment would change the prototype. */
export function setOwn(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as JsonObject)[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Returns a copy with the keys of every object sorted: values that differ only in key order get the same JSON text. */
export function inKeyOrder(value: unknown): unknown {
  return mapLeaves(
    value,
    (leaf) => leaf,
    undefined,
    (entries) => entries.toSorted(byKey),
  );
}

function byKey([left]: [string, unknown], [right]: [string, unknown]): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/**
 * Returns a copy with `toLeaf` applied to every leaf (string, number, boolean, null) and `toKey` to every object key.
 */
export function mapLeaves(
  value: unknown,
  toLeaf: (leaf: unknown) => unknown,
  toKey: (key: string) => string = (key) => key,
  inOrder: (entries: [string, unknown][]) => [string, unknown][] = (entries) => entries,
): unknown {
  const pending: [source: object, copy: object][] = [];
  const convert = (item: unknown): unknown => {
    if (!isContainer(item)) return toLeaf(item);
    const copy = Array.isArray(item) ? [] : {};
    pending.push([item, copy]);
    return copy;
  };
  const result = convert(value);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [source, copy] = next;
    if (Array.isArray(copy)) for (const item of source as unknown[]) copy.push(convert(item));
    else for (const [key, item] of inOrder(Object.entries(source))) setOwn(copy, toKey(key), convert(item));
  }
  return result;
}

/** Returns every leaf of a value in the order in which JSON would write them. */
export function leavesOf(value: unknown): unknown[] {
  const leaves: unknown[] = [];
  const pending: Iterator<unknown>[] = [[value].values()];
  for (let top = pending.at(-1); top !== undefined; top = pending.at(-1)) {
    const { done, value: item } = top.next();
    if (done) pending.pop();
    else if (isContainer(item)) pending.push(Object.values(item).values());
    else leaves.push(item);
  }
  return leaves;
}

/**
 * Returns true if two JSON values are equal. The order of keys does not matter, the order of elements does. An object
 * that both values share is equal to itself, so its contents are not read.
 */
export function isEqualJson(left: unknown, right: unknown): boolean {
  const pending: [left: unknown, right: unknown][] = [[left, right]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [one, other] = next;
    if (one === other) continue;
    if (!isContainer(one) || !isContainer(other)) {
      if (!isEqualLeaf(one, other)) return false;
      continue;
    }
    const keys = Object.keys(one);
    if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false;
      pending.push([ownValue(one, key), ownValue(other, key)]);
    }
  }
  return true;
}

function isEqualLeaf(one: unknown, other: unknown): boolean {
  if (one instanceof ExactNumber && other instanceof ExactNumber) return String(one) === String(other);
  return one === other;
}

/** Returns true if a value and all values in it, at any depth, are more than `limit`. Stops counting at the limit. */
export function holdsMoreThan(value: unknown, limit: number): boolean {
  const met = [value];
  for (const item of met) {
    if (!isContainer(item)) continue;
    for (const child of Object.values(item)) {
      if (met.push(child) > limit) return true;
    }
  }
  return false;
}
