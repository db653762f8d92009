import type { NodeKey } from '../../graph/plan.js';

/** A row of `waits`. */
export interface WaitKey extends NodeKey {
  /** Which of an agent's tool calls waits; absent or 0 for the node itself. */
  call?: number;
}
