// What the gateway tells the twin's workflow. Types only.
import type { Shape } from '../graphs.js';

/**
 * `normal`: gateway and worker are two processes, as API and worker of the service are. `eager`: they are one process, which
 * gets the first task of a workflow in the answer to its start.
 */
export type TwinVariant = 'normal' | 'eager';

export interface TwinJob {
  shape: Shape;
  size: number;
  /** How many items of a list are worked on side by side. */
  concurrency: number;
  targetUrl: string;
  tag: string;
  delayMs: number;
}

export interface TwinAnswer {
  well: string;
}
