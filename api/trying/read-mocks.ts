// The mocks of a test, by the nodes that they stand for. Extensions, section 11.
import type { Document } from '../../graph/document.js';
import { readGiven } from '../../graph/given-outcome.js';
import { cutText } from '../../graph/cut-text.js';
import { EVERYWHERE, type GivenResult } from '../../db/trying/test-runs-repository.js';
import { invalidFields } from '../http/errors.js';

const MOST_TOLD = 20;

/**
 * Reads mocks, whose keys are ids of nodes, or `NODE@PATH` for one iteration. Throws the 400 that names each one that is
 * wrong.
 */
export function readMocks(mocks: Record<string, unknown>, { nodes }: Document): GivenResult[] {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const wrong: string[] = [];
  const read = Object.entries(mocks).flatMap(([key, mock]): GivenResult[] => {
    const { nodeId, path } = splitKey(key, known);
    const node = known.get(nodeId);
    const outcome = node === undefined ? 'There is no such node.' : readGiven(node.kind, node.data, mock);
    if (typeof outcome !== 'string') return [{ path, nodeId, source: 'mock', isStale: false, outcome }];
    wrong.push(`${cutText(key, 100)}: ${outcome}`);
    return [];
  });
  if (wrong.length > 0) throw invalidFields({ mocks: wrong.slice(0, MOST_TOLD) });
  return read;
}

/** A key is first the id of a node, and is else split at the first `@` behind one. */
function splitKey(key: string, known: ReadonlyMap<string, unknown>): { nodeId: string; path: string } {
  if (known.has(key)) return { nodeId: key, path: EVERYWHERE };
  for (let at = key.indexOf('@'); at >= 0; at = key.indexOf('@', at + 1)) {
    if (known.has(key.slice(0, at))) return { nodeId: key.slice(0, at), path: key.slice(at + 1) };
  }
  return { nodeId: key, path: EVERYWHERE };
}
