// Finds the values that variables name as seen from an iteration: a node outside loops has one value, a node in a body
// has one in each iteration.
import { scopeOfPath } from './iteration-path.js';
import { findVariables } from './template.js';

/** The named values of one iteration, by node id. */
interface NamedNodes {
  results: Set<string>;
  errors: Set<string>;
  callbacks: Set<string>;
}

interface VariablePlaces {
  /** The named nodes, by the path of their iteration; the path is empty outside loops. */
  iterations: Map<string, NamedNodes>;
  /** The loops whose item, index or last output is named, by id: the path of the loop and that of its iteration. */
  loops: Map<string, { loop: string; iteration: string }>;
}

/** Returns the ids of the loops around a node, outermost first, or undefined if the node is unknown. */
type LoopsAround = (nodeId: string) => readonly string[] | undefined;

/**
 * Finds the values that `templates` (any JSON) name in the iteration `path`. Skips nodes in a body that doesn't enclose
 * the reader, and nodes that `loopsAround` doesn't know.
 */
export function findPlaces(loopsAround: LoopsAround, path: string, templates: unknown): VariablePlaces {
  const places: VariablePlaces = { iterations: new Map(), loops: new Map() };
  for (const variable of findVariables(templates)) {
    if (variable.source === 'input') continue;
    const { nodeId, source } = variable;
    const loops = loopsAround(nodeId);
    const own = loops && scopeOfPath(path, loops);
    if (loops === undefined || own === undefined) continue;
    if (source === 'loop') {
      const iteration = scopeOfPath(path, [...loops, nodeId]);
      if (iteration !== undefined) places.loops.set(nodeId, { loop: own, iteration });
      continue;
    }
    const named = places.iterations.get(own) ?? { results: new Set(), errors: new Set(), callbacks: new Set() };
    places.iterations.set(own, named);
    if (source === 'node') named.results.add(nodeId);
    else if (source === 'error') named.errors.add(nodeId);
    else named.callbacks.add(nodeId);
  }
  return places;
}
