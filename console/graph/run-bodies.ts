import { isObject, type JsonObject } from '../../graph/json.js';
import { findBodies, isBodyHandle, type Bodies } from './bodies.js';
import type { NodeKinds } from './node-kind.js';
import type { RunLinks } from './run-links.js';

/** The bodies of the loops of a drawing as it ran; none until the kinds are known. */
export function runBodies(drawing: JsonObject, { start, links, order }: RunLinks, kinds: NodeKinds): Bodies {
  const nodes = Array.isArray(drawing['nodes']) ? drawing['nodes'].filter(isObject) : [];
  const types = new Map(nodes.map(({ id, type }) => [id, type]));
  const ends = links.map(({ from, to, handle }) => ({
    source: from,
    target: to,
    isIntoBody: isBodyHandle(kinds.get(String(types.get(from))), handle),
  }));
  return findBodies(order, start, ends);
}
