// The input and the result of every node's activity.
import type { Handle, NodeKey } from '../graph/plan.js';

/** The trigger's activity reports the start of its run as update 1. The only other report is the end of the run. */
export const START_SEQUENCE = 1;
export const FINISH_SEQUENCE = 2;

/** The input of a node's activity. */
export interface NodeRef extends NodeKey {
  /**
   * Set for the last open node of the run: its activity reports the run's success with this number
   * (`FinishRunInput.sequence`).
   */
  endSequence?: number;
}

/** The result of a node's activity, when the node has succeeded. */
export interface NodeFacts {
  /** The named handle by which the node was left. Absent for its ordinary links. */
  handle?: Handle;
  /** Further handles by which it was left. */
  alsoHandles?: Handle[];
  /** Whether the activity has reported the end of the run. */
  isEnded?: boolean;
}
