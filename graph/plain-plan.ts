import { connectionsIn } from './connections.js';
import type { JsonObject } from './json.js';
import { traitsOf } from './kinds.js';
import type { Plan } from './plan.js';

/**
 * Returns true if no node of the plan waits, repeats other nodes, asks a person or is an agent, so that the row of each
 * node contains everything that readers see of it. A node with a connection is not plain, because it may wait for a
 * sign-in.
 */
export function isPlain({ ids, kinds }: Plan, drawing: JsonObject): boolean {
  const hasRowsAlone = kinds.every((kind) => ['activity', 'inline'].includes(traitsOf(kind).runs));
  const executed = new Set<unknown>(ids);
  return hasRowsAlone && !connectionsIn(drawing).some(({ node }) => executed.has(node['id']));
}
