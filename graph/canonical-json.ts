import { isContainer, ownValue } from './json.js';
import { writeJson } from './json-text.js';

/**
 * Writes JSON in the one form by which it is hashed, that of RFC 8785: no white space, the keys of each object in the order
 * of their UTF-16 code units. A number that no double holds is written as it was. The value must not be nested so deep
 * that the stack overflows.
 */
export function writeCanonicalJson(value: unknown): string {
  if (!isContainer(value)) return writeJson(value);
  if (Array.isArray(value)) return `[${value.map((item) => writeCanonicalJson(item)).join(',')}]`;
  const members = Object.keys(value)
    .toSorted(byCodeUnits)
    .map((key) => `${JSON.stringify(key)}:${writeCanonicalJson(ownValue(value, key))}`);
  return `{${members.join(',')}}`;
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}
