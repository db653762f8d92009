// What every node's activity is told, and what it says of the node.
import type { Handle, NodeKey } from '../graph/plan.js';

/** The trigger's activity reports the start of its run as update 1; the end of the run is the only other report. */
export const START_SEQUENCE = 1;
export const FINISH_SEQUENCE = 2;

/** To the activity of a node. */
export interface NodeRef extends NodeKey {
  /** Nothing else of the run is left: the activity reports the run's success with this number (`FinishRunInput.sequence`). */
  endSequence?: number;
}

/** From the activity of a node that has succeeded. */
export interface NodeFacts {
  /** By which named handle the node was left; its ordinary links where it is absent. */
  handle?: Handle;
  /** The end of the run has been reported. */
  isEnded?: boolean;
}
