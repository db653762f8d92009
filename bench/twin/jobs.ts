// The types of the twin's input and results.
import type { Shape } from '../graphs.js';

/**
 * `normal`: gateway and worker are two processes, like the service's API and worker. `eager`: they are one process,
 * which gets the first task of a workflow in the answer to its start. `keeping`: the processes of `normal` store each
 * run and each result in PostgreSQL, and answer polls from there.
 */
export type TwinVariant = 'normal' | 'eager' | 'keeping';

export interface TwinJob {
  shape: Shape;
  size: number;
  /** The number of items of a list that are processed in parallel. */
  concurrency: number;
  targetUrl: string;
  tag: string;
  delayMs: number;
  /** True if the run and its results are stored in PostgreSQL. */
  keeps: boolean;
}

export interface TwinAnswer {
  well: string;
}
