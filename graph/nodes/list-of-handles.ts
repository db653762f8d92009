// Ids of the items that a node's data lists as its further handles (cases, actions).
import { z } from 'zod';
import { isObject } from '../json.js';
import { MAX_LISTED_HANDLES } from '../plan.js';

/** The names of edges of other handles, of whatever kind. */
const RESERVED = ['default', 'error', 'timeout'];

/**
 * A list of items with an `id` each, which names one way out of the node: it is unique, and none of the reserved names.
 */
export function listOfHandles<Item extends z.ZodType>(item: Item, most: number) {
  return z
    .array(item)
    .min(1)
    .max(Math.min(most, MAX_LISTED_HANDLES))
    .superRefine(
      (items: unknown, context) => {
        for (const { index, id } of takenTwice(items)) {
          context.addIssue({ code: 'custom', path: [index, 'id'], message: `Input should be another id than '${id}'` });
        }
      },
      // So that all mistakes of the list are found at once: what is looked at may be anything.
      { when: () => true },
    );
}

function takenTwice(items: unknown): { index: number; id: string }[] {
  if (!Array.isArray(items)) return [];
  const seen = new Set<string>(RESERVED);
  return items.slice(0, MAX_LISTED_HANDLES).flatMap((item: unknown, index) => {
    if (!isObject(item) || typeof item['id'] !== 'string') return [];
    const { id } = item;
    const isTaken = seen.has(id);
    seen.add(id);
    return isTaken ? [{ index, id }] : [];
  });
}
