// JSON inside a text of the file was not looked at when the file was read, as the file itself was.
import { holdsMoreThan, leavesOf, mapLeaves } from '../graph/json.js';

const MAX_VALUES = 100_000;
const MAX_DEPTH = 100;

/** Whether the database could not store a value, or a part of the service could not read it. */
export function holdsUnstorableText(value: unknown): boolean {
  if (holdsMoreThan(value, MAX_VALUES) || isDeeperThan(value, MAX_DEPTH)) return true;
  const keys: string[] = [];
  mapLeaves(
    value,
    (leaf) => leaf,
    (key) => (keys.push(key), key),
  );
  return [...leavesOf(value), ...keys].some((text) => typeof text === 'string' && !isStorable(text));
}

export function isStorable(text: string): boolean {
  return !/[\0\p{Cs}]/u.test(text);
}

function isDeeperThan(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= limit; depth += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
