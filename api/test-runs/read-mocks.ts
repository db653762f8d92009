// Reads the mocks of a test (docs/use/test-runs.md, "Mocks").
import type { Db } from '../../db/core/client.js';
import type { Document } from '../../graph/document.js';
import { cutText } from '../../graph/cut-text.js';
import { EVERYWHERE, type FixedResult } from '../../db/test-runs/test-runs-repository.js';
import { ApiError, invalidFields } from '../http/errors.js';
import { isIterationPath } from '../http/path-ids.js';
import { readOutcome } from './read-outcome.js';

export const MOST_MOCKS = 1_000;
const MOST_REPORTED = 20;
/** An id has at most 200 code points (graph/document.ts). */
const MOST_UNITS_OF_ID = 400;

/** Throws a 400 if a test or a case has too many mocks. */
export function refuseManyMocks(count: number): void {
  if (count > MOST_MOCKS)
    throw new ApiError(400, 'too_many_mocks', `A test or a case has at most ${MOST_MOCKS} mocks.`);
}

/**
 * The keys of `mocks` are ids of nodes, or `NODE@PATH` for one iteration. Throws a 400 that names up to 20 malformed
 * mocks, or says that there are too many mocks.
 */
export async function readMocks(
  db: Db,
  projectId: number,
  { mocks, document }: { mocks: Record<string, unknown>; document: Document },
): Promise<FixedResult[]> {
  refuseManyMocks(Object.keys(mocks).length);
  const known = new Map(document.nodes.map((node) => [node.id, node]));
  const wrong: string[] = [];
  const read: FixedResult[] = [];
  for (const [key, mock] of Object.entries(mocks)) {
    const { nodeId, path } = splitKey(key, known);
    const node = known.get(nodeId);
    const isPlace = path === EVERYWHERE || isIterationPath(path);
    const outcome =
      node === undefined
        ? 'There is no such node.'
        : isPlace
          ? await readOutcome(db, projectId, node, mock)
          : 'After `@`, it must be like `LOOP[3]/INNER[0]`.';
    if (typeof outcome === 'string') wrong.push(`${cutText(key, 100)}: ${outcome}`);
    else read.push({ path, nodeId, source: 'mock', isStale: false, outcome });
  }
  if (wrong.length > 0) throw invalidFields({ mocks: wrong.slice(0, MOST_REPORTED) });
  return read;
}

/** A key that is a node's id names that node; otherwise the key is split at the first `@` after a node's id. */
export function splitKey(key: string, known: Pick<ReadonlySet<string>, 'has'>): { nodeId: string; path: string } {
  if (known.has(key)) return { nodeId: key, path: EVERYWHERE };
  for (let at = key.indexOf('@'); at >= 0 && at <= MOST_UNITS_OF_ID; at = key.indexOf('@', at + 1)) {
    if (known.has(key.slice(0, at))) return { nodeId: key.slice(0, at), path: key.slice(at + 1) };
  }
  return { nodeId: key, path: EVERYWHERE };
}
