import type { NodeKey } from '../../graph/plan.js';

export interface WaitKey extends NodeKey {
  /**
   * The number of the agent's tool call that waits; absent or 0 for the node itself; negative for a wait for a
   * connection or a worker.
   */
  call?: number;
}
