// The nodes of a run inside loops, which neither the run nor its polls have.
import { api, unwrap } from '../../app/api.js';
import type { NodeEntry } from '../../live/live-run.js';

/** Of each loop, and of all its loops together: a page that shows a run must not ask for ten thousand iterations. */
const ITERATIONS_OF_A_LOOP = 100;
const MAX_REQUESTS = 20;

interface LoopAddress {
  node: string;
  /** The enclosing iteration; empty outside loops. */
  path: string;
}

/** The entries of the nodes in the first iterations of each loop of `nodes`, with their paths. */
export async function loadIterations(
  { id, workflow }: { id: string; workflow: { id: number } },
  nodes: readonly NodeEntry[],
  signal: AbortSignal,
): Promise<NodeEntry[]> {
  const found: NodeEntry[] = [];
  const loops = loopsOf(nodes);
  // The list grows while it is iterated: an iteration may have loops of its own.
  for (const [index, { node, path }] of loops.entries()) {
    if (index === MAX_REQUESTS) break;
    const { items } = await unwrap(
      api.GET('/api/v1/workflows/{id}/history/{run_id}/iterations/', {
        params: {
          path: { id: workflow.id, run_id: id },
          query: { node, size: ITERATIONS_OF_A_LOOP, ...(path !== '' && { path }) },
        },
        signal,
      }),
    );
    for (const iteration of items) {
      const entries = Object.values(iteration.nodes).map((entry) => ({ ...entry, path: iteration.path }));
      found.push(...entries);
      loops.push(...loopsOf(entries));
    }
  }
  return found;
}

function loopsOf(nodes: readonly NodeEntry[]): LoopAddress[] {
  return nodes.flatMap(({ id, path = '', iterations }) => (iterations === undefined ? [] : [{ node: id, path }]));
}
