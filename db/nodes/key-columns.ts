import type { NodeKey } from '../../graph/plan.js';

/** The key columns that every table about nodes has. Use: `where((row) => row.and(keyColumns(key)))`. */
export function keyColumns({ runId, path, nodeId }: NodeKey): { run_id: string; path: string; node_id: string } {
  return { run_id: runId, path, node_id: nodeId };
}
