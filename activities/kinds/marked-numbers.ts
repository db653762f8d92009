import { ExactNumber } from '../../graph/exact-number.js';
import { mapLeaves } from '../../graph/json.js';
import { markNumber } from '../../outgoing/exact-numbers.js';

/** Prepares JSON for a client library that uses `JSON.stringify`, so that large numbers are sent exactly. */
export function withMarkedNumbers<T>(value: T): T {
  return mapLeaves(value, (leaf) => (leaf instanceof ExactNumber ? markNumber(leaf.toString()) : leaf)) as T;
}
