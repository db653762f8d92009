// Ids of the items that a node's data lists as its further handles (cases, actions).
import type { z } from 'zod';

/** Every kind has the edge that is taken after a failure. */
const ERROR_EDGE = 'error';

/**
 * Refines a list of `{id}`: each id names one way out, so it is unique, and is none of the names that the node's other
 * handles have.
 */
export function listedIds(names: readonly string[]) {
  return (items: readonly { id: string }[], context: z.core.$RefinementCtx): void => {
    const seen = new Set<string>([ERROR_EDGE, ...names]);
    for (const [index, { id }] of items.entries()) {
      if (seen.has(id)) {
        context.addIssue({ code: 'custom', path: [index, 'id'], message: `Input should be another id than '${id}'` });
      }
      seen.add(id);
    }
  };
}
