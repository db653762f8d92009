/** The rows of the benchmark that execute a graph. */
export const GRAPH_ROWS = [
  'chain-5',
  'chain-20',
  'fan-out-20',
  'branch',
  'diamonds',
  'for-each-100-by-5',
  'for-each-100-by-20',
] as const;
export type GraphRow = (typeof GRAPH_ROWS)[number];

/** The rows that `--beside` supports: only calls, one after the other or all in parallel. */
export const BESIDE_ROWS = ['chain-5', 'chain-20', 'fan-20'] as const;
export type BesideRow = (typeof BESIDE_ROWS)[number];
