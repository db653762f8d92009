import { ExactNumber } from '../../graph/exact-number.js';
import { mapLeaves } from '../../graph/json.js';
import { markNumber } from '../../outgoing/exact-numbers.js';

/** JSON for a client library that writes it by `JSON.stringify`: its large numbers leave as numbers all the same. */
export function withMarkedNumbers<T>(value: T): T {
  return mapLeaves(value, (leaf) => (leaf instanceof ExactNumber ? markNumber(leaf.toString()) : leaf)) as T;
}
