// The variables of a text name values as seen from an iteration: a node outside loops has one value, and a node in a
// body has one in each iteration.
import { scopeOfPath } from './iteration-path.js';
import { findVariables } from './template.js';

/** The values of one iteration that are named, by node ids. */
interface NamedNodes {
  results: Set<string>;
  errors: Set<string>;
  callbacks: Set<string>;
}

interface VariablePlaces {
  /** The nodes that are named, by the path of the iteration, which is empty for the drawing outside loops. */
  iterations: Map<string, NamedNodes>;
  /** The loops whose item, index or last output is named, each with its own path and that of the iteration. */
  loops: Map<string, { loop: string; iteration: string }>;
}

/** Returns the ids of the loops around a node, the outermost first. */
type LoopsAround = (nodeId: string) => readonly string[] | undefined;

/**
 * Returns where the values are that `templates` (any JSON) name in the iteration `path`. A node in a body that does not
 * enclose the reader is left out, and so is one that `loopsAround` does not know.
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
