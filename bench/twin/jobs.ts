// The types of the twin's input and results.
import type { Shape } from '../graphs.js';

/**
 * `normal`: gateway and worker are two processes, like the service's API and worker. `eager`: they are one process,
 * which gets the first task of a workflow in the answer to its start.
 */
export type TwinVariant = 'normal' | 'eager';

export interface TwinJob {
  shape: Shape;
  size: number;
  /** The number of items of a list that are processed in parallel. */
  concurrency: number;
  targetUrl: string;
  tag: string;
  delayMs: number;
}

export interface TwinAnswer {
  well: string;
}
