// Reads the mocks of a test (docs/use/test-runs.md, "Mocks").
import type { Db } from '../../db/core/client.js';
import type { Document } from '../../graph/document.js';
import { cutText } from '../../graph/cut-text.js';
import { EVERYWHERE, type FixedResult } from '../../db/test-runs/test-runs-repository.js';
import { invalidFields } from '../http/errors.js';
import { readOutcome } from './read-outcome.js';

const MOST_REPORTED = 20;

/**
 * The keys of `mocks` are ids of nodes, or `NODE@PATH` for one iteration. Throws a 400 that names each malformed mock.
 */
export async function readMocks(
  db: Db,
  projectId: number,
  { mocks, document }: { mocks: Record<string, unknown>; document: Document },
): Promise<FixedResult[]> {
  const known = new Map(document.nodes.map((node) => [node.id, node]));
  const wrong: string[] = [];
  const read: FixedResult[] = [];
  for (const [key, mock] of Object.entries(mocks)) {
    const { nodeId, path } = splitKey(key, known);
    const node = known.get(nodeId);
    const outcome = node === undefined ? 'There is no such node.' : await readOutcome(db, projectId, node, mock);
    if (typeof outcome === 'string') wrong.push(`${cutText(key, 100)}: ${outcome}`);
    else read.push({ path, nodeId, source: 'mock', isStale: false, outcome });
  }
  if (wrong.length > 0) throw invalidFields({ mocks: wrong.slice(0, MOST_REPORTED) });
  return read;
}

/** A key that is a node's id names that node; otherwise the key is split at the first `@` after a node's id. */
function splitKey(key: string, known: ReadonlyMap<string, unknown>): { nodeId: string; path: string } {
  if (known.has(key)) return { nodeId: key, path: EVERYWHERE };
  for (let at = key.indexOf('@'); at >= 0; at = key.indexOf('@', at + 1)) {
    if (known.has(key.slice(0, at))) return { nodeId: key.slice(0, at), path: key.slice(at + 1) };
  }
  return { nodeId: key, path: EVERYWHERE };
}
