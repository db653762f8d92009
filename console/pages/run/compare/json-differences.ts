// Where two JSON values differ.
import { isEqualJson, isObject } from '../../../drawing/json.js';

export interface Difference {
  /** Where: `customer.name`, `items[3]`; empty for the whole value. */
  path: string;
  /** Undefined: it is not there. */
  left: unknown;
  right: unknown;
}

/** The innermost places that differ, in the order of the left value. The order of keys does not count, that of lists does. */
export function differencesOf(left: unknown, right: unknown, path = ''): Difference[] {
  if (left === right || isEqual(left, right)) return [];
  if (isObject(left) && isObject(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys.flatMap((key) => differencesOf(own(left, key), own(right, key), join(path, key)));
  }
  if (Array.isArray(left) && Array.isArray(right)) {
    const length = Math.max(left.length, right.length);
    return Array.from({ length }, (_, index) =>
      differencesOf(own(left, index), own(right, index), `${path}[${index}]`),
    ).flat();
  }
  return [{ path, left, right }];
}

function isEqual(left: unknown, right: unknown): boolean {
  return left !== undefined && right !== undefined && isEqualJson(left, right);
}

function own(value: object, key: string | number): unknown {
  return Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;
}

function join(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === '' ? key : `${path}.${key}`;
}
